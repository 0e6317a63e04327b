// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/analysis/heat_map.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace htmtrace {

// The table never drops an entry: the map joins rows before the table is full.
HeatMap::HeatMap(uint64_t unit_bytes, Size size)
    : most_rows_(size.rows),
      columns_(size.columns),
      smallest_unit_shift_(static_cast<unsigned>(std::countr_zero(unit_bytes))),
      unit_shift_(smallest_unit_shift_),
      rows_(size.rows + 1) {}

HeatMap::Place& HeatMap::new_place(Place& place, uint64_t address) {
  if (rows_.size() <= most_rows_) {
    place.row = rows_.size() - 1;
    cells_.resize(rows_.size() * columns_);
    return place;
  }
  double_unit();
  return place_of(address);
}

// Frees at least a quarter of the rows, so that the next doubling is not imminent.
void HeatMap::double_unit() {
  std::vector<HotTable<Place>::Slot> old = rows_.entries();
  std::erase_if(old, [](const auto& slot) { return slot.entry.count == 0; });
  std::vector<uint64_t> cells;
  do {
    unit_shift_++;
    HotTable<Place> rows(most_rows_ + 1);
    std::vector<uint64_t> joined;
    for (HotTable<Place>::Slot& slot : old) {
      Place& place = rows.at(slot.key >> 1);
      if (place.count == 0) {
        place.row = rows.size() - 1;
        joined.resize(rows.size() * columns_);
      }
      place.count += slot.entry.count;
      place.names.add(slot.entry.names);
      for (size_t i = 0; i < columns_; i++) {
        joined[place.row * columns_ + i] += cells_[slot.entry.row * columns_ + i];
      }
    }
    rows_ = std::move(rows);
    cells_ = std::move(joined);
    old = rows_.entries();
  } while (rows_.size() > most_rows_ / 4 * 3 && rows_.size() > 1);
}

// Creates a column for `time`.
void HeatMap::reach(uint64_t time) {
  if (!begun_) first_ = last_ = time >> time_shift_;
  begun_ = true;
  uint64_t window = time >> time_shift_;
  while (std::max(last_, window) - std::min(first_, window) >= columns_) {
    double_window();
    window = time >> time_shift_;
  }
  if (window < first_) move_columns(window);
}

void HeatMap::double_window() {
  const uint64_t first = first_ >> 1;
  for (size_t row = 0; row < rows_.size(); row++) {
    uint64_t* const cells = cells_.data() + row * columns_;
    for (size_t i = 0; i < columns_; i++) {
      const uint64_t count = std::exchange(cells[i], 0);
      cells[((first_ + i) >> 1) - first] += count;  // the target is never after an unmoved column
    }
  }
  first_ = first;
  last_ >>= 1;
  time_shift_++;
}

void HeatMap::move_columns(uint64_t first) {
  const auto by = static_cast<ptrdiff_t>(first_ - first);
  for (size_t row = 0; row < rows_.size(); row++) {
    const auto begin = cells_.begin() + static_cast<ptrdiff_t>(row * columns_);
    std::rotate(begin, begin + static_cast<ptrdiff_t>(columns_) - by,
                begin + static_cast<ptrdiff_t>(columns_));
  }
  first_ = first;
}

std::vector<HeatMap::Row> HeatMap::hottest(size_t most) const {
  std::vector<Row> rows;
  for (const auto& [key, place] : rows_.top(most)) {
    rows.push_back({.address = key << unit_shift_,
                    .count = place.count,
                    .names = place.names,
                    .windows = std::span(cells_).subspan(place.row * columns_, windows())});
  }
  std::sort(rows.begin(), rows.end(),
            [](const Row& a, const Row& b) { return a.address < b.address; });
  return rows;
}

std::vector<uint64_t> HeatMap::sums() const {
  std::vector<uint64_t> sums(windows());
  for (size_t row = 0; row < rows_.size(); row++) {
    for (size_t i = 0; i < sums.size(); i++) sums[i] += cells_[row * columns_ + i];
  }
  return sums;
}

}  // namespace htmtrace
