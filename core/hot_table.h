// SPDX-License-Identifier: GPL-2.0-or-later
// Counts by key in bounded memory. Exact until more keys came than there is room for; then the
// smaller half of the entries is dropped, and every count may be too small by at most error().
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace htmtrace {

// `Entry` is default-constructed for a new key and has `uint64_t count`; the caller raises it.
template <class Entry>
class HotTable {
 public:
  struct Slot {
    uint64_t key = 0;
    Entry entry;
  };

  // Room for `capacity` keys; it is taken as they come.
  explicit HotTable(size_t capacity)
      : capacity_(capacity), slots_(kFirstPlaces), used_(kFirstPlaces) {}

  // The entry of `key`; good until the next call.
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

  // Keeps the room.
  void clear() {
    std::fill(used_.begin(), used_.end(), 0);
    size_ = 0;
    error_ = 0;
  }

  // Of a table that is added to this one: its counts may be too small, too.
  void add_error(uint64_t error) { error_ += error; }

  size_t size() const { return size_; }
  uint64_t error() const { return error_; }

  // In no order.
  std::vector<Slot> entries() const {
    std::vector<Slot> all;
    all.reserve(size_);
    for (size_t i = 0; i < slots_.size(); i++) {
      if (used_[i]) all.push_back(slots_[i]);
    }
    return all;
  }

  // The entries with the highest counts, highest first; of equal ones the lower key.
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
  // Where `key` is, or the free place where it belongs.
  size_t place_of(uint64_t key) const {
    const size_t mask = slots_.size() - 1;
    // Multiplicative hashing; the upper half of the product is the better mixed one.
    size_t place = static_cast<size_t>(key * 0x9e3779b97f4a7c15 >> 32) & mask;
    while (used_[place] && slots_[place].key != key) place = (place + 1) & mask;
    return place;
  }

  // At most half of the places are used, so that a key is found soon.
  void make_room() {
    std::vector<Slot> all;
    all.reserve(size_);
    for (size_t i = 0; i < slots_.size(); i++) {
      if (used_[i]) all.push_back(std::move(slots_[i]));
    }
    if (size_ >= capacity_) {
      drop_smaller_half(all);
    } else {
      slots_.resize(slots_.size() * 2);
      used_.resize(slots_.size());
    }
    std::fill(used_.begin(), used_.end(), 0);
    for (Slot& slot : all) {
      const size_t place = place_of(slot.key);
      used_[place] = true;
      slots_[place] = std::move(slot);
    }
    size_ = all.size();
  }

  void drop_smaller_half(std::vector<Slot>& all) {
    std::vector<uint64_t> counts;
    counts.reserve(all.size());
    for (const Slot& slot : all) counts.push_back(slot.entry.count);
    const auto middle = counts.begin() + static_cast<ptrdiff_t>(counts.size() / 2);
    std::nth_element(counts.begin(), middle, counts.end());
    const uint64_t most_dropped = *middle;
    error_ += most_dropped;
    std::erase_if(all, [=](const Slot& slot) { return slot.entry.count <= most_dropped; });
  }

  static constexpr size_t kFirstPlaces = 64;

  size_t capacity_;
  size_t size_ = 0;
  uint64_t error_ = 0;
  std::vector<Slot> slots_;
  std::vector<uint8_t> used_;
};

}  // namespace htmtrace
