// SPDX-License-Identifier: GPL-2.0-or-later
// Counts how often each of several values occurs: the short lists of reports.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

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

  void add(uint64_t value, Room& room) {
    for (Place& place : first_) {
      if (place.value == value && place.count != 0) {
        place.count++;
        return;
      }
      if (place.count == 0) {
        place = {value, 1};
        return;
      }
    }
    add_further(value, room);
  }

  // The highest count first; for equal counts, the lower value first.
  std::vector<Place> sorted() const {
    std::vector<Place> found;
    for (const Place& place : first_) {
      if (place.count != 0) found.push_back(place);
    }
    for (const Place& place : further_) {
      if (place.count != 0) found.push_back(place);
    }
    std::sort(found.begin(), found.end(), [](const Place& a, const Place& b) {
      return a.count != b.count ? a.count > b.count : a.value < b.value;
    });
    return found;
  }

  // How often unlisted values occurred.
  uint64_t others() const { return others_; }

  // The number of entries that the list has allocated.
  size_t places() const { return further_.size(); }

 private:
  static constexpr size_t kLeastPlaces = 8;  // a power of two, as all sizes are

  // The entry of `value`, or the free entry for it.
  Place& place_of(uint64_t value) {
    const size_t mask = further_.size() - 1;
    // Multiplicative hashing, as in HotTable.
    size_t place = static_cast<size_t>(value * 0x9e3779b97f4a7c15 >> 32) & mask;
    while (further_[place].count != 0 && further_[place].value != value) {
      place = (place + 1) & mask;
    }
    return further_[place];
  }

  void add_further(uint64_t value, Room& room) {
    if (further_.empty() && !grow(room)) {
      others_++;
      return;
    }
    Place* place = &place_of(value);
    if (place->count == 0) {
      // A quarter stays free to keep searches short. A value that arrived when no room was left is
      // never listed, because its count would be too small.
      if (others_ != 0 || (used_ + 1 > further_.size() / 4 * 3 && !grow(room))) {
        others_++;
        return;
      }
      place = &place_of(value);
      place->value = value;
      used_++;
    }
    place->count++;
  }

  bool grow(Room& room) {
    const size_t size = further_.empty() ? kLeastPlaces : further_.size() * 2;
    if (room.places < size - further_.size()) return false;
    room.places -= size - further_.size();
    std::vector<Place> before(size);
    before.swap(further_);
    for (const Place& place : before) {
      if (place.count != 0) place_of(place.value) = place;
    }
    return true;
  }

  std::array<Place, kFirst> first_{};
  std::vector<Place> further_;  // a hash table; count 0: free
  size_t used_ = 0;             // used entries of further_
  uint64_t others_ = 0;
};

using Counts = CountList<3>;

}  // namespace htmtrace
