// SPDX-License-Identifier: GPL-2.0-or-later
// One walk through the page tables, as an XLATE record tells it and as what was told before
// completes it. htm-core-trace(5), WALKS. A translation by a guest takes two kinds of table: the
// guest's own, whose entries have guest addresses, and the hypervisor's, which turns each of these
// addresses (and at last the wanted one) into a host address.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/address.h"

namespace htmtrace {

// What the hypervisor's tables were asked for: where a guest entry is, or the page itself.
enum class WalkLegKind : uint8_t { kProcess, kPgd, kPud, kPmd, kPte, kFinal };
inline constexpr unsigned kWalkLegs = 6;
inline constexpr std::array<std::string_view, kWalkLegs> kWalkLegNames = {
    "process", "pgd", "pud", "pmd", "pte", "final"};

// Levels of a tree from the root: PGD, PUD, PMD, PTE. An entry of each covers 2^39, 2^30, 2^21 and
// 2^12 bytes (2^16 in tables of 64 KiB pages).
inline constexpr unsigned kTreeLevels = 4;
inline constexpr std::array<unsigned, kTreeLevels> kTreeShifts = {39, 30, 21, 12};

inline constexpr unsigned kSmallPage = 12;  // log2 of the smallest page

struct WalkLeg {
  uint64_t guest = 0;                           // guest real address, if has_guest
  uint64_t host = 0;                            // host real address, if has_host
  std::array<uint64_t, kTreeLevels> entries{};  // host addresses of the host's table entries
  uint8_t told = 0;                             // which of them the record tells: 1 << level
  uint8_t remembered = 0;                       // and which an earlier one did
  bool has_guest = false;
  bool has_host = false;
  bool from_memory = false;  // the record left the whole leg out

  bool there() const { return has_guest || has_host || told != 0; }
  bool has_entry(unsigned level) const { return ((told | remembered) >> level & 1) != 0; }
};

enum class WalkUse : uint8_t {
  kAccess,       // it led to the access of an instruction that completed
  kInterrupted,  // its instruction did not complete, or needed it no more
};

struct Walk {
  uint64_t offset = 0;  // of the record
  uint32_t lpid = 0;
  uint32_t pid = 0;
  bool data_side = false;
  WalkUse use = WalkUse::kInterrupted;
  bool exception = false;       // it ended with one
  bool has_address = false;     // ea and ra are known
  bool complete = false;        // nothing is missing from the root to the page
  bool partition_told = false;  // by this record
  bool has_partition = false;
  uint8_t guest_shift = 0;  // page sizes, as powers of two; 0: unknown, or no such tree
  uint8_t host_shift = 0;
  EffectiveAddr ea;
  RealAddr ra;
  uint64_t partition = 0;  // host address of the partition-table entry
  std::array<WalkLeg, kWalkLegs> legs{};

  WalkLeg& leg(WalkLegKind kind) { return legs[static_cast<size_t>(kind)]; }
  const WalkLeg& leg(WalkLegKind kind) const { return legs[static_cast<size_t>(kind)]; }
};

}  // namespace htmtrace
