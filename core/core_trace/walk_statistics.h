// SPDX-License-Identifier: GPL-2.0-or-later
// Counts walks through page tables by their outcome and by the sizes of the pages.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/core_trace/radix_walk.h"

namespace htmtrace {

// log2 of the possible page sizes; 0: unknown, or no page of that kind.
inline constexpr unsigned kPageShifts = 7;
inline constexpr std::array<uint8_t, kPageShifts> kPageShift = {0, 12, 16, 21, 24, 30, 39};
inline constexpr std::array<std::string_view, kPageShifts> kPageNames = {"-",   "4K", "64K", "2M",
                                                                         "16M", "1G", "512G"};

constexpr size_t page_place(uint8_t shift) {
  size_t place = 0;
  while (place + 1 < kPageShifts && kPageShift[place] != shift) place++;
  return kPageShift[place] == shift ? place : 0;
}

struct WalkStatistics {
  uint64_t accesses = 0;     // walks that led to the access of an instruction
  uint64_t complete = 0;     // accesses whose walk is known from root to page
  uint64_t interrupted = 0;  // walks of instructions that did not complete
  // Accesses by size of the guest's and the host's page.
  std::array<std::array<uint64_t, kPageShifts>, kPageShifts> pages{};

  void add(const Walk& walk) {
    if (walk.use == WalkUse::kInterrupted) {
      interrupted++;
      return;
    }
    accesses++;
    complete += walk.complete ? 1 : 0;
    pages.at(page_place(walk.guest_shift)).at(page_place(walk.host_shift))++;
  }
  bool any() const { return accesses != 0 || interrupted != 0; }

  // Calls each(guest, host, count) for each pair with accesses. `guest` and `host` are indexes in
  // kPageShift.
  template <class Each>
  void each_page(const Each& each) const {
    for (size_t guest = 0; guest < kPageShifts; guest++) {
      for (size_t host = 0; host < kPageShifts; host++) {
        if (pages[guest][host] != 0) each(guest, host, pages[guest][host]);
      }
    }
  }
  bool operator==(const WalkStatistics&) const = default;
};

}  // namespace htmtrace
