// SPDX-License-Identifier: GPL-2.0-or-later
// POWER8 traces tell the real page of an instruction only when the processor had to look it up.
// This remembers what was told. htm-core-trace(5), POWER8 RECORDS.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/address.h"
#include "core/zeroed_array.h"

namespace htmtrace {

// What is remembered of a page, as an index holds it: htmtrace-index(5). Any numbers will do.
struct Power8Page {
  uint64_t effective = 0;  // address; the low bits say which size, and whether it is the first
  uint64_t real = 0;       // address; 1: nothing is known
  bool operator==(const Power8Page&) const = default;
};

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

  // Appends what has changed since the last call. Who has restored all that was ever told so, in
  // this order, has what is here.
  void tell_changes(std::vector<Power8Page>& told);
  void restore(std::span<const Power8Page> told);

 private:
  static constexpr unsigned kShifts[] = {12, 16, 24};
  static constexpr size_t kSizes = 3;
  static constexpr size_t kSets = 4096;
  static constexpr size_t kWays = 4;
  static constexpr uint64_t kNoPage = ~uint64_t{0};
  static constexpr uint64_t kNoNumber = 0;
  static constexpr uint64_t kPageOffset = 0xfff;  // of the smallest page

  struct Entry {
    uint64_t number = kNoNumber;  // of the page: its effective address >> shift, from 1
    uint64_t real = 0;
  };
  // Newest first; those without a page are the last.
  using Set = std::array<Entry, kWays>;
  static constexpr size_t kAllSets = kSizes * kSets;
  static constexpr size_t kSetFlags = 64;  // in a number

  void make_tables();
  static uint64_t number_of(EffectiveAddr address, size_t size) {
    return (address.value >> kShifts[size]) + 1;
  }
  static size_t set_of(size_t size, uint64_t number) { return size * kSets + (number - 1) % kSets; }
  void put(size_t set, const Entry& entry);
  void forget(size_t set, uint64_t number);
  void note_change(size_t set);
  void tell_set(size_t set, std::vector<Power8Page>& told) const;
  std::optional<RealAddr> look_up(EffectiveAddr address) const;

  // Made for the first page learned.
  ZeroedArray<Set> sets_;               // of kShifts[0] first
  ZeroedArray<uint64_t> changed_sets_;  // one bit each
  // What was translated last, unless something was learned since.
  uint64_t recent_page_ = kNoPage;
  uint64_t recent_real_ = 0;
  uint64_t evictions_ = 0;
};

}  // namespace htmtrace
