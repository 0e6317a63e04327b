// SPDX-License-Identifier: GPL-2.0-or-later
// Counts by key in bounded memory. The counts are exact until the table is full. Then the table
// drops the smaller half of its entries, and each count is too small by at most error().
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/spread.h"

namespace htmtrace {

// The table default-constructs `Entry` for a new key. The caller increments the member `uint64_t
// count`.
template <class Entry>
class HotTable {
 public:
  // Rows whose size is a multiple of a cache line are aligned, so that no two rows share a line.
  static constexpr size_t kCacheLineBytes = 64;
  static constexpr size_t kRowAlignment =
      (sizeof(uint64_t) + sizeof(Entry)) % kCacheLineBytes == 0 ? kCacheLineBytes : alignof(Entry);
  struct alignas(kRowAlignment) Slot {
    uint64_t key = 0;
    Entry entry;
  };

  // The table holds at most `capacity` keys and allocates memory as keys arrive.
  explicit HotTable(size_t capacity)
      : capacity_(capacity), slots_(kFirstPlaces), used_(kFirstPlaces) {}

  // The entry of `key`, valid until the next call.
  Entry& at(uint64_t key) {
    size_t place = place_of(key);
    if (used_[place]) [[likely]]
      return slots_[place].entry;
    if (size_ >= capacity_ || size_ * 2 >= slots_.size()) {
      make_room();
      place = place_of(key);
    }
    used_[place] = true;
    size_++;
    slots_[place] = {key, {}};
    return slots_[place].entry;
  }

  // Like at(key), without a search if the earlier result `place` of place_of(key) still holds the
  // key.
  Entry& at(uint64_t key, size_t place) {
    if (used_[place] && slots_[place].key == key) [[likely]]
      return slots_[place].entry;
    return at(key);
  }

  // The number of new keys that the table can hold before it drops entries.
  size_t room() const { return capacity_ - std::min(size_, capacity_); }
  bool contains(uint64_t key) const { return used_[place_of(key)]; }

  // Starts to load the row of `key`.
  void prefetch(uint64_t key) const {
    const size_t home = home_of(key);
    __builtin_prefetch(&used_[home], 1);
    const char* const slot = reinterpret_cast<const char*>(&slots_[home]);
    for (size_t i = 0; i < sizeof(Slot); i += kCacheLineBytes) __builtin_prefetch(slot + i, 1);
  }

  // The slot of `key`, or the free slot for it.
  size_t place_of(uint64_t key) const {
    size_t place = home_of(key);
    while (used_[place] && slots_[place].key != key) place = (place + 1) & (slots_.size() - 1);
    return place;
  }

  // The number of slots that a search for `key` reads. Tests check that no pattern of keys makes it
  // large.
  size_t probes(uint64_t key) const {
    return ((place_of(key) - home_of(key)) & (slots_.size() - 1)) + 1;
  }

  // The row at a slot; null if the slot is free.
  const Entry* row_at(size_t place) const { return used_[place] ? &slots_[place].entry : nullptr; }

  // Allocates the memory for all keys. Has an effect only while the table is empty. at() then
  // allocates memory only when the full table drops entries.
  void reserve() {
    const size_t places = std::bit_ceil(capacity_ * 2);
    if (size_ != 0 || places <= slots_.size()) return;
    std::vector<uint8_t> used(places);
    slots_ = std::vector<Slot>(places);
    used_ = std::move(used);
  }

  // Keeps the allocated memory.
  void clear() {
    std::fill(used_.begin(), used_.end(), 0);
    size_ = 0;
    error_ = 0;
  }

  // Adds the error of another table whose entries the caller adds to this table.
  void add_error(uint64_t error) { error_ += error; }

  size_t size() const { return size_; }
  uint64_t error() const { return error_; }

  // The entries in no particular order.
  std::vector<Slot> entries() const {
    std::vector<Slot> all;
    all.reserve(size_);
    for (size_t i = 0; i < slots_.size(); i++) {
      if (used_[i]) all.push_back(slots_[i]);
    }
    return all;
  }

  // The entries with the highest counts, highest first; for equal counts, the lower key first.
  std::vector<Slot> top(size_t most) const {
    std::vector<const Slot*> all;
    all.reserve(size_);
    for (size_t i = 0; i < slots_.size(); i++) {
      if (used_[i]) all.push_back(&slots_[i]);
    }
    const size_t wanted = std::min(most, all.size());
    std::partial_sort(all.begin(), all.begin() + static_cast<ptrdiff_t>(wanted), all.end(),
                      [](const Slot* a, const Slot* b) {
                        if (a->entry.count != b->entry.count) {
                          return a->entry.count > b->entry.count;
                        }
                        return a->key < b->key;
                      });
    std::vector<Slot> found;
    found.reserve(wanted);
    for (size_t i = 0; i < wanted; i++) found.push_back(*all[i]);
    return found;
  }

  // Calls visit(key, entry) for each entry, in any order.
  template <class Visit>
  void visit(const Visit& visit) const {
    for (size_t i = 0; i < slots_.size(); i++) {
      if (used_[i]) visit(slots_[i].key, slots_[i].entry);
    }
  }

 private:
  // The slot where the search for `key` begins.
  size_t home_of(uint64_t key) const { return secret_place(key, slots_.size()); }

  // At most half of the slots are used, which keeps searches short.
  void make_room() {
    std::vector<Slot> kept;
    if (size_ >= capacity_) {
      kept = take_larger_half();
      std::fill(used_.begin(), used_.end(), 0);
    } else {
      kept.reserve(size_);
      take(kept, [](const Slot&) { return true; });
      const size_t places = slots_.size() * 2;
      std::vector<uint8_t> used(places);  // an exception must not leave it shorter than slots_
      slots_ = std::vector<Slot>(places);
      used_ = std::move(used);
    }
    for (Slot& slot : kept) {
      const size_t place = place_of(slot.key);
      used_[place] = true;
      slots_[place] = std::move(slot);
    }
    size_ = kept.size();
  }

  // Moves the rows that `wanted` selects to `taken`, and frees the memory of the others.
  template <class Wanted>
  void take(std::vector<Slot>& taken, const Wanted& wanted) {
    for (size_t i = 0; i < slots_.size(); i++) {
      if (!used_[i]) continue;
      if (wanted(slots_[i])) {
        taken.push_back(std::move(slots_[i]));
      } else {
        slots_[i].entry = {};
      }
    }
  }

  std::vector<Slot> take_larger_half() {
    std::vector<uint64_t> counts;
    counts.reserve(size_);
    visit([&](uint64_t, const Entry& entry) { counts.push_back(entry.count); });
    const auto middle = counts.begin() + static_cast<ptrdiff_t>(counts.size() / 2);
    std::nth_element(counts.begin(), middle, counts.end());
    const uint64_t most_dropped = *middle;
    error_ += most_dropped;
    std::vector<Slot> kept;
    take(kept, [=](const Slot& slot) { return slot.entry.count > most_dropped; });
    return kept;
  }

  static constexpr size_t kFirstPlaces = 64;

  size_t capacity_;
  size_t size_ = 0;
  uint64_t error_ = 0;
  std::vector<Slot> slots_;
  std::vector<uint8_t> used_;
};

}  // namespace htmtrace
