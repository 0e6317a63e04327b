// SPDX-License-Identifier: GPL-2.0-or-later
// POWER8 traces tell the real page of an instruction only when the processor had to look it up.
// This remembers what was told. htm-core-trace(5), POWER8 RECORDS.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/address.h"

namespace htmtrace {

// Effective to real pages of 4 KiB, 64 KiB and 16 MiB. Like the trace itself it knows neither
// process nor partition: the newest word about an address holds. Of bounded size: it holds any
// 16384 neighbouring pages; beyond that it forgets the older ones.
class Power8Translation {
 public:
  // `real_page` is the address of the page (or of a 4 KiB part of it) that holds `address`; the
  // page is 2^shift bytes.
  void learn(EffectiveAddr address, uint64_t real_page, unsigned shift);

  std::optional<RealAddr> translate(EffectiveAddr address);

  // How many translations had to be forgotten for want of room.
  uint64_t evictions() const { return evictions_; }

 private:
  struct Entry {
    uint64_t page = 0;  // effective address >> shift
    uint64_t real = 0;
    uint64_t learned = 0;  // when; 0: free
  };
  static constexpr unsigned kShifts[] = {12, 16, 24};
  static constexpr unsigned kSets = 4096;
  static constexpr unsigned kWays = 4;
  using Table = std::array<std::array<Entry, kWays>, kSets>;

  Entry* find(unsigned table, uint64_t page);

  std::unique_ptr<std::array<Table, 3>> tables_;  // by kShifts; made for the first page learned
  uint64_t clock_ = 0;
  uint64_t evictions_ = 0;
};

}  // namespace htmtrace
