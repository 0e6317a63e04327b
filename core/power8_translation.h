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

  std::optional<RealAddr> translate(EffectiveAddr address) {
    const uint64_t page = address.value >> kShifts[0];
    if (page != recent_page_) [[unlikely]] {
      const auto real = look_up(address);
      if (!real) return std::nullopt;
      recent_page_ = page;
      recent_real_ = real->value & ~kPageOffset;
    }
    return RealAddr{recent_real_ | (address.value & kPageOffset)};
  }

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

  static constexpr uint64_t kPageOffset = 0xfff;  // of the smallest page

  Entry* find(unsigned table, uint64_t page);
  std::optional<RealAddr> look_up(EffectiveAddr address);

  std::unique_ptr<std::array<Table, 3>> tables_;  // by kShifts; made for the first page learned
  // What was translated last, unless something was learned since.
  static constexpr uint64_t kNoPage = ~uint64_t{0};
  uint64_t recent_page_ = kNoPage;
  uint64_t recent_real_ = 0;
  uint64_t clock_ = 0;
  uint64_t evictions_ = 0;
};

}  // namespace htmtrace
