// SPDX-License-Identifier: GPL-2.0-or-later
// Counts accesses by address and time in constant memory: rows are address units, columns are time
// windows. When the rows are used up, the unit doubles and the map joins rows. When time exceeds
// the last column, the window doubles. No count is ever lost.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/base/hot_table.h"

namespace htmtrace {

class HeatMap {
 public:
  struct Size {
    size_t rows = 1 << 14;
    size_t columns = 128;
  };
  static constexpr uint64_t kNoName = std::numeric_limits<uint64_t>::max();

  // Addresses that can name a row.
  struct Names {
    uint64_t lowest = kNoName;
    uint64_t highest = 0;  // valid only if `lowest` is valid
    void add(uint64_t name) {
      if (name == kNoName) return;
      add(Names{name, name});
    }
    void add(const Names& more) {
      lowest = std::min(lowest, more.lowest);
      highest = std::max(highest, more.highest);
    }
  };

  struct Row {
    uint64_t address = 0;  // address of its first byte
    uint64_t count = 0;
    Names names;                        // that add() received for this row
    std::span<const uint64_t> windows;  // windows() counts, starting at first_time()
  };

  // `unit_bytes` is the size of the smallest row, a power of two.
  explicit HeatMap(uint64_t unit_bytes) : HeatMap(unit_bytes, Size()) {}
  HeatMap(uint64_t unit_bytes, Size size);

  // `time` has any unit and may go backward.
  void add(uint64_t address, uint64_t time, uint64_t name = kNoName) {
    Names names;
    names.add(name);
    add(address, time, 1, names);
  }
  // Adds `count` accesses of the same time.
  void add(uint64_t address, uint64_t time, uint64_t count, const Names& names) {
    const uint64_t window = window_of(time);
    Place& place = place_of(address);
    place.names.add(names);
    place.count += count;
    total_ += count;
    cells_[place.row * columns_ + (window - first_)] += count;
  }

  // Whether all accesses from time `first` to time `last` count in the same window. Both times must
  // have accesses, because the map creates their columns.
  bool in_one_window(uint64_t first, uint64_t last) {
    window_of(first);
    const uint64_t window = window_of(last);  // the windows may double
    return first <= last && window == first >> time_shift_;
  }

  uint64_t total() const { return total_; }
  // The initial unit times a power of two.
  uint64_t unit_bytes() const { return uint64_t{1} << unit_shift_; }
  uint64_t smallest_unit_bytes() const { return uint64_t{1} << smallest_unit_shift_; }
  // Columns: the start of the first column, the length of each column, and the number of columns.
  uint64_t first_time() const { return first_ << time_shift_; }
  uint64_t window() const { return uint64_t{1} << time_shift_; }
  size_t windows() const { return total_ == 0 ? 0 : static_cast<size_t>(last_ - first_ + 1); }
  size_t rows() const { return rows_.size(); }

  // The rows with the highest counts, sorted by address. Valid until the next add().
  std::vector<Row> hottest(size_t most) const;
  // windows() sums over all rows.
  std::vector<uint64_t> sums() const;

 private:
  struct Place {
    uint64_t count = 0;
    Names names;
    size_t row = 0;  // row in cells_
  };

  // Returns the number of the window of `time`. Creates its column.
  uint64_t window_of(uint64_t time) {
    if ((time >> time_shift_) - first_ >= columns_ || !begun_) [[unlikely]]
      reach(time);
    const uint64_t window = time >> time_shift_;
    if (window > last_) last_ = window;
    return window;
  }

  Place& place_of(uint64_t address) {
    Place& place = rows_.at(address >> unit_shift_);
    return place.count != 0 ? place : new_place(place, address);
  }
  Place& new_place(Place& place, uint64_t address);
  void reach(uint64_t time);
  void double_window();
  void double_unit();
  void move_columns(uint64_t first);

  size_t most_rows_;
  size_t columns_;
  unsigned smallest_unit_shift_;
  unsigned unit_shift_;
  unsigned time_shift_ = 0;
  uint64_t first_ = 0;  // number of the first column: time >> time_shift_
  uint64_t last_ = 0;   // number of the last used column
  bool begun_ = false;  // first_ and last_ are valid
  uint64_t total_ = 0;
  HotTable<Place> rows_;  // keyed by number of the unit
  std::vector<uint64_t> cells_;
};

}  // namespace htmtrace
