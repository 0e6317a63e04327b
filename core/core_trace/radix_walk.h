// SPDX-License-Identifier: GPL-2.0-or-later
// One walk through the page tables: the reported part from an XLATE record, completed with earlier
// reports. htm-core-trace(5), WALKS. A guest's translation uses two kinds of table. The guest's own
// tables hold guest addresses. The hypervisor's tables translate each guest address, and finally
// the address of the access, to a host address.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/base/address.h"
#include "core/core_trace/modes.h"

namespace htmtrace {

// The address that a leg translates through the hypervisor's tables: the location of a guest entry,
// or (kFinal) the accessed page.
enum class WalkLegKind : uint8_t { kProcess, kPgd, kPud, kPmd, kPte, kFinal };
inline constexpr unsigned kWalkLegs = 6;
inline constexpr std::array<std::string_view, kWalkLegs> kWalkLegNames = {
    "process", "pgd", "pud", "pmd", "pte", "final"};

// Levels of a tree from the root: PGD, PUD, PMD, PTE. Their entries cover 2^39, 2^30, 2^21 and 2^12
// bytes (2^16 bytes in tables of 64 KiB pages).
inline constexpr unsigned kTreeLevels = 4;
inline constexpr std::array<unsigned, kTreeLevels> kTreeShifts = {39, 30, 21, 12};

inline constexpr unsigned kSmallPage = 12;  // log2 of the smallest page

struct WalkLeg {
  uint64_t guest = 0;                           // guest real address, if has_guest
  uint64_t host = 0;                            // host real address, if has_host
  std::array<uint64_t, kTreeLevels> entries{};  // host addresses of the host's table entries
  uint8_t told = 0;                             // entries in the record: 1 << level
  uint8_t remembered = 0;                       // entries from an earlier record: 1 << level
  bool has_guest = false;
  bool has_host = false;
  bool from_memory = false;  // the record omits the whole leg

  bool there() const { return has_guest || has_host || told != 0; }
  bool has_entry(unsigned level) const { return ((told | remembered) >> level & 1) != 0; }
};

enum class WalkUse : uint8_t {
  kAccess,       // the walk led to the access of a completed instruction
  kInterrupted,  // the instruction did not complete, or no longer needed the walk
};

struct Walk {
  uint64_t offset = 0;  // offset of the record
  uint32_t lpid = 0;
  uint32_t pid = 0;
  bool data_side = false;
  WalkUse use = WalkUse::kInterrupted;
  bool exception = false;       // the walk ended with an exception
  bool has_address = false;     // ea and ra are known
  bool complete = false;        // all entries from the root to the page are known
  bool partition_told = false;  // the record reports the partition
  bool has_partition = false;
  uint8_t guest_shift = 0;  // log2 of page sizes; 0: unknown, or no such tree
  uint8_t host_shift = 0;
  Modes modes;  // of the walk's instruction, if `use` is kAccess
  EffectiveAddr ea;
  RealAddr ra;
  uint64_t partition = 0;  // host address of the partition-table entry
  std::array<WalkLeg, kWalkLegs> legs{};

  WalkLeg& leg(WalkLegKind kind) { return legs[static_cast<size_t>(kind)]; }
  const WalkLeg& leg(WalkLegKind kind) const { return legs[static_cast<size_t>(kind)]; }
};

}  // namespace htmtrace
