// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/core_trace/power8_translation.h"

#include <algorithm>
#include <bit>

namespace htmtrace {
namespace {

// The format of Power8Page: htmtrace-index(5), FORMAT.
constexpr uint64_t kFirstOfSet = 1;
constexpr unsigned kSizePosition = 2;
constexpr uint64_t kSizeMask = 3;
constexpr uint64_t kNothing = 1;

template <class Set>
auto find_page(Set& set, uint64_t number) {
  return std::find_if(set.begin(), set.end(),
                      [number](const auto& entry) { return entry.number == number; });
}

}  // namespace

void Power8Translation::make_tables() {
  if (!sets_.empty()) return;
  sets_ = ZeroedArray<Set>(kAllSets);
  changed_sets_ = ZeroedArray<uint64_t>(kAllSets / kSetFlags);
}

void Power8Translation::note_change(size_t set) {
  changed_sets_[set / kSetFlags] |= uint64_t{1} << set % kSetFlags;
}

void Power8Translation::put(size_t set_number, const Entry& entry) {
  Set& set = sets_[set_number];
  if (set.front().number == entry.number && set.front().real == entry.real) return;
  auto place = find_page(set, entry.number);
  if (place == set.end()) {
    --place;
    if (place->number != kNoNumber) evictions_++;
  }
  std::move_backward(set.begin(), place, place + 1);
  set.front() = entry;
  note_change(set_number);
}

void Power8Translation::forget(size_t set_number, uint64_t number) {
  Set& set = sets_[set_number];
  const auto place = find_page(set, number);
  if (place == set.end()) return;
  std::move(place + 1, set.end(), place);
  set.back() = {};
  note_change(set_number);
}

void Power8Translation::learn(EffectiveAddr address, uint64_t real_page, unsigned shift) {
  make_tables();
  recent_page_ = kNoPage;
  for (size_t size = 0; size < kSizes; size++) {
    const uint64_t number = number_of(address, size);
    const size_t set = set_of(size, number);
    if (kShifts[size] == shift) {
      put(set, {.number = number, .real = real_page});
    } else {
      forget(set, number);
    }
  }
}

// If two pages hold the address, the larger page is newer: learn() of the smaller page forgets the
// larger page.
std::optional<RealAddr> Power8Translation::look_up(EffectiveAddr address) const {
  if (sets_.empty()) return std::nullopt;
  for (size_t size = kSizes; size-- > 0;) {
    const uint64_t number = number_of(address, size);
    const Set& set = sets_[set_of(size, number)];
    const auto entry = find_page(set, number);
    if (entry == set.end()) continue;
    const uint64_t offset = address.value & ((uint64_t{1} << kShifts[size]) - 1);
    return RealAddr{entry->real | offset};
  }
  return std::nullopt;
}

void Power8Translation::tell_set(size_t set_number, std::vector<Power8Page>& told) const {
  const Set& set = sets_[set_number];
  const size_t size = set_number / kSets;
  uint64_t flags = kFirstOfSet | size << kSizePosition;
  if (set.front().number == kNoNumber) {
    told.push_back({set_number % kSets << kShifts[size] | flags, kNothing});
    return;
  }
  for (const Entry& entry : set) {
    if (entry.number == kNoNumber) break;
    told.push_back({(entry.number - 1) << kShifts[size] | flags, entry.real});
    flags &= ~kFirstOfSet;
  }
}

void Power8Translation::tell_changes(std::vector<Power8Page>& told) {
  if (sets_.empty()) return;
  for (size_t i = 0; i < kAllSets / kSetFlags; i++) {
    uint64_t& changed = changed_sets_[i];
    for (; changed != 0; changed &= changed - 1) {
      tell_set(i * kSetFlags + static_cast<size_t>(std::countr_zero(changed)), told);
    }
  }
}

void Power8Translation::restore(std::span<const Power8Page> told) {
  if (!told.empty()) make_tables();
  recent_page_ = kNoPage;
  for (const Power8Page& one : told) {
    const size_t size = one.effective >> kSizePosition & kSizeMask;
    if (size >= kSizes) continue;
    const uint64_t number = number_of({one.effective}, size);
    Set& set = sets_[set_of(size, number)];
    if ((one.effective & kFirstOfSet) != 0) set.fill({});
    const auto free = find_page(set, kNoNumber);
    if (free != set.end() && (one.real & kNothing) == 0)
      *free = {.number = number, .real = one.real};
  }
}

}  // namespace htmtrace
