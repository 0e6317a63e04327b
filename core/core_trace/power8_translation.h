// SPDX-License-Identifier: GPL-2.0-or-later
// A POWER8 trace reports the real page of an instruction only when the processor looked the page
// up. This class remembers the reported pages. htm-core-trace(5), POWER8 RECORDS.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/address.h"
#include "core/base/zeroed_array.h"

namespace htmtrace {

// A remembered page in the format of an index: htmtrace-index(5).
struct Power8Page {
  uint64_t effective =
      0;              // address; the low bits hold the size and the flag of the first page of a set
  uint64_t real = 0;  // address; 1: no page is known
  bool operator==(const Power8Page&) const = default;
};

// Maps effective to real pages of 4 KiB, 64 KiB and 16 MiB. Like the trace, the class knows neither
// process nor partition: the newest report for an address is valid. The size is bounded: the class
// holds any 16384 adjacent pages and replaces the oldest pages.
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

  // The number of pages that newer pages replaced.
  uint64_t evictions() const { return evictions_; }

  // tell_changes() appends the changes since the last call. restore() of all appended pages, in
  // order, reproduces the state. restore() accepts any numbers.
  void tell_changes(std::vector<Power8Page>& told);
  void restore(std::span<const Power8Page> told);

 private:
  static constexpr unsigned kShifts[] = {12, 16, 24};
  static constexpr size_t kSizes = 3;
  static constexpr size_t kSets = 4096;
  static constexpr size_t kWays = 4;
  static constexpr uint64_t kNoPage = ~uint64_t{0};
  static constexpr uint64_t kNoNumber = 0;
  static constexpr uint64_t kPageOffset = 0xfff;  // offset in the smallest page

  struct Entry {
    uint64_t number = kNoNumber;  // page number: effective address >> shift, counted from 1
    uint64_t real = 0;
  };
  // The newest page is first; free entries are last.
  using Set = std::array<Entry, kWays>;
  static constexpr size_t kAllSets = kSizes * kSets;
  static constexpr size_t kSetFlags = 64;  // flags per number

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

  // Allocated with the first page.
  ZeroedArray<Set> sets_;               // the sets of kShifts[0] first
  ZeroedArray<uint64_t> changed_sets_;  // one bit for each set
  // The result of the last translation, unless learn() or restore() followed.
  uint64_t recent_page_ = kNoPage;
  uint64_t recent_real_ = 0;
  uint64_t evictions_ = 0;
};

}  // namespace htmtrace
