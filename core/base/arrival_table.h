// SPDX-License-Identifier: GPL-2.0-or-later
// Exact counts by key, in the order in which the keys arrived. The order therefore does not depend
// on the secret of the hash. The table drops no key before clear().
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/spread.h"

namespace htmtrace {

// A key that is a number.
struct PlainKey {
  uint64_t value = 0;
  bool operator==(const PlainKey&) const = default;
  uint64_t hash() const { return value; }
};

// `Key` is comparable and has `uint64_t hash() const`. The table default-constructs `Entry` for a
// new key.
template <class Key, class Entry>
class ArrivalTable {
 public:
  struct Row {
    Key key;
    Entry entry;
  };

  // The entry of `key`, valid until the next call.
  Entry& at(const Key& key) {
    size_t place = secret_place(key.hash(), index_.size());
    for (; index_[place] != 0; place = (place + 1) & (index_.size() - 1)) {
      Row& row = rows_[index_[place] - 1];
      if (row.key == key) return row.entry;
    }
    if (rows_.size() * 2 >= index_.size()) [[unlikely]]
      place = grow(key);
    rows_.push_back({key, {}});
    index_[place] = static_cast<uint32_t>(rows_.size());
    return rows_.back().entry;
  }

  // The entry of `key`, or null.
  Entry* find(const Key& key) {
    size_t place = secret_place(key.hash(), index_.size());
    for (; index_[place] != 0; place = (place + 1) & (index_.size() - 1)) {
      Row& row = rows_[index_[place] - 1];
      if (row.key == key) return &row.entry;
    }
    return nullptr;
  }

  const std::vector<Row>& rows() const { return rows_; }

  // Keeps the allocated memory.
  void clear() {
    rows_.clear();
    std::fill(index_.begin(), index_.end(), 0);
  }

 private:
  static constexpr size_t kFirstPlaces = 1024;  // a power of two, like every size

  // Returns the place of a new key.
  size_t grow(const Key& key) {
    std::vector<uint32_t> index(index_.size() * 2);
    index_ = std::move(index);
    for (size_t i = 0; i < rows_.size(); i++) {
      index_[free_place(rows_[i].key)] = static_cast<uint32_t>(i + 1);
    }
    return free_place(key);
  }

  size_t free_place(const Key& key) const {
    size_t place = secret_place(key.hash(), index_.size());
    while (index_[place] != 0) place = (place + 1) & (index_.size() - 1);
    return place;
  }

  std::vector<Row> rows_;
  // The number of the row at each place, counted from 1; 0: free. At most half of the places are
  // used.
  std::vector<uint32_t> index_ = std::vector<uint32_t>(kFirstPlaces);
};

}  // namespace htmtrace
