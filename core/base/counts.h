// SPDX-License-Identifier: GPL-2.0-or-later
// Counts how often each value occurs. Reports use these counts for their short lists.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/spread.h"

namespace htmtrace {

struct CountPlace {
  uint64_t value = 0;
  uint64_t count = 0;
};

// The number of entries that lists may still add.
struct CountRoom {
  size_t places = 0;
};

// Every listed value has its exact count. The list itself holds the first few values. Further
// values use the room that all lists of a table share. When the room is used up, the list counts
// all new values together.
template <size_t kFirst>
class CountList {
 public:
  using Place = CountPlace;
  using Room = CountRoom;

  CountList() = default;
  CountList(const CountList& other) : first_(other.first_) {
    if (other.further_ == nullptr) return;
    further_ = std::make_unique<Place[]>(1 + other.size());
    std::copy_n(other.further_.get(), 1 + other.size(), further_.get());
  }
  CountList(CountList&&) noexcept = default;
  CountList& operator=(const CountList& other) { return *this = CountList(other); }
  CountList& operator=(CountList&&) noexcept = default;
  ~CountList() = default;

  void add(uint64_t value, Room& room) { add(value, 1, room); }
  // Adds `count` occurrences, at least 1.
  void add(uint64_t value, uint64_t count, Room& room) {
    for (Place& place : first_) {
      if (place.value == value && place.count != 0) {
        place.count += count;
        return;
      }
      if (place.count == 0) {
        place = {value, count};
        return;
      }
    }
    add_further(value, count, room);
  }

  // Starts to load the size of the table.
  void prefetch_size() const {
    if (further_ != nullptr) __builtin_prefetch(further_.get(), 1);
  }
  // Starts to load the slot that add() will search first.
  void prefetch_place(uint64_t value) const {
    if (further_ != nullptr && size() != 0) __builtin_prefetch(&further_[1 + home_of(value)], 1);
  }

  // The highest count first; for equal counts, the lower value first.
  std::vector<Place> sorted() const {
    std::vector<Place> found;
    for (const Place& place : first_) {
      if (place.count != 0) found.push_back(place);
    }
    for (size_t i = 1; i <= size(); i++) {
      if (further_[i].count != 0) found.push_back(further_[i]);
    }
    std::sort(found.begin(), found.end(), [](const Place& a, const Place& b) {
      return a.count != b.count ? a.count > b.count : a.value < b.value;
    });
    return found;
  }

  // The number of occurrences of unlisted values.
  uint64_t others() const { return further_ == nullptr ? 0 : further_[0].count; }

  // The number of entries that the list has allocated.
  size_t places() const { return size(); }

 private:
  static constexpr size_t kLeastPlaces = 8;  // a power of two, like every size
  static constexpr unsigned kSizeShift = 32;

  // The number of slots in the hash table.
  size_t size() const {
    return further_ == nullptr ? 0 : static_cast<size_t>(further_[0].value >> kSizeShift);
  }
  size_t used() const { return static_cast<uint32_t>(further_[0].value); }

  // The slot where the search for `value` begins.
  size_t home_of(uint64_t value) const { return secret_place(value, size()); }

  // The entry of `value`, or the free entry for it.
  Place& place_of(uint64_t value) {
    Place* const places = &further_[1];
    const size_t mask = size() - 1;
    size_t place = home_of(value);
    while (places[place].count != 0 && places[place].value != value) place = (place + 1) & mask;
    return places[place];
  }

  void add_others(uint64_t count) {
    if (further_ == nullptr) further_ = std::make_unique<Place[]>(1);
    further_[0].count += count;
  }

  void add_further(uint64_t value, uint64_t count, Room& room) {
    if (size() == 0 && (others() != 0 || !grow(room))) return add_others(count);
    Place* place = &place_of(value);
    if (place->count == 0) {
      // A quarter stays free to keep searches short. A value that arrived when no room was left is
      // never listed, because its count would be too small.
      if (others() != 0 || (used() + 1 > size() / 4 * 3 && !grow(room))) {
        return add_others(count);
      }
      place = &place_of(value);
      place->value = value;
      further_[0].value++;  // used()
    }
    place->count += count;
  }

  bool grow(Room& room) {
    const size_t before = size(), size = before == 0 ? kLeastPlaces : before * 2;
    if (room.places < size - before) return false;
    room.places -= size - before;
    const std::unique_ptr<Place[]> old = std::move(further_);
    further_ = std::make_unique<Place[]>(1 + size);
    further_[0].value = uint64_t{size} << kSizeShift;
    for (size_t i = 1; i <= before; i++) {
      if (old[i].count == 0) continue;
      place_of(old[i].value) = old[i];
      further_[0].value++;
    }
    return true;
  }

  std::array<Place, kFirst> first_{};
  // Null while the first entries are enough. Most lists are short, and allocation would dominate
  // the time of a report. Otherwise, element 0 holds the following numbers:
  // - value: the size of the hash table, shifted by kSizeShift, plus the number of used slots;
  // - count: the number of occurrences of unlisted values.
  // The hash table follows. A slot with count 0 is free.
  std::unique_ptr<Place[]> further_;
};

using Counts = CountList<3>;

}  // namespace htmtrace
