// SPDX-License-Identifier: GPL-2.0-or-later
// Counts the keys of a block of entries before they are added to a table, which is larger and
// slower. A virtual processor uses few physical processors and instructions at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/hot_table.h"
#include "core/base/spread.h"

namespace htmtrace {

// Counts at most kMost keys, in memory of a constant size. Each key has one row. If a key needs the
// row of another key, the other key moves to a list with its count.
template <class Key, size_t kMost>
class PlaceCounts {
 public:
  struct Row {
    Key key;
    Key count;
  };

  PlaceCounts() { rows_.fill({}); }

  // Counts `times` equal keys.
  void add(Key key, Key times = 1) {
    Row& row = rows_[spread(key) >> (64 - kRowBits)];
    if (row.key != key) {
      if (row.count != 0) list_[listed_++] = row;
      row = {key, 0};
    }
    row.count += times;
  }

  // All keys with their counts. A key may be in the list several times. Call list() once, after the
  // last add().
  std::span<const Row> list() {
    for (const Row& row : rows_) {
      list_[listed_] = row;
      listed_ += row.count != 0 ? 1 : 0;
    }
    return std::span(list_).first(listed_);
  }

 private:
  static constexpr unsigned kRowBits = 10;
  static constexpr size_t kRows = size_t{1} << kRowBits;

  size_t listed_ = 0;
  std::array<Row, kRows> rows_;
  // One more, because list() writes a row before it knows whether the row is used.
  std::array<Row, kMost + 1> list_;
};

// The number of items between the prefetch of a row and its use. The time between both is much
// longer than a load from the next cache, and the rows remain in the first-level cache until their
// use.
inline constexpr size_t kPlaceAhead = 16;

// Calls add(item) for each item. Meanwhile, the table loads the rows of the keys that follow.
template <class Table, class Item, class KeyOf, class Add>
void with_prefetch(const Table& table, std::span<const Item> items, const KeyOf& key_of,
                   const Add& add) {
  for (size_t i = 0; i < items.size(); i++) {
    if (i + kPlaceAhead < items.size()) table.prefetch(key_of(items[i + kPlaceAhead]));
    add(items[i]);
  }
}

}  // namespace htmtrace
