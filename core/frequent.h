// SPDX-License-Identifier: GPL-2.0-or-later
// The few values that come most often, in a few places.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace htmtrace {

// Exact while no more different values came than there are places, else each came at least so
// often.
template <class Value, size_t kPlaces>
class Frequent {
 public:
  struct Place {
    Value value{};
    uint64_t count = 0;
  };

  // Misra and Gries, "Finding repeated elements" (1982): when there is no room, all lose one.
  void add(Value value) {
    for (Place& place : places_) {
      if (place.count != 0 && place.value == value) {
        place.count++;
        return;
      }
    }
    for (Place& place : places_) {
      if (place.count == 0) {
        place = {value, 1};
        return;
      }
    }
    for (Place& place : places_) place.count--;
  }

  // Highest first; of equal ones the lower value.
  std::vector<Place> sorted() const {
    std::vector<Place> found;
    for (const Place& place : places_) {
      if (place.count != 0) found.push_back(place);
    }
    std::sort(found.begin(), found.end(), [](const Place& a, const Place& b) {
      return a.count != b.count ? a.count > b.count : a.value < b.value;
    });
    return found;
  }

 private:
  std::array<Place, kPlaces> places_{};
};

}  // namespace htmtrace
