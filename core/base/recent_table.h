// SPDX-License-Identifier: GPL-2.0-or-later
// A map of constant size that forgets. Each key has one slot, and a new key replaces the old key.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/spread.h"
#include "core/base/zeroed_array.h"

namespace htmtrace {

// `Key` is comparable and has `uint64_t hash() const`. The table has 2^places_log2 slots, at least
// 2.
template <class Key, class Value>
class RecentTable {
 public:
  explicit RecentTable(unsigned places_log2)
      : slots_(size_t{1} << places_log2), shift_(64 - places_log2) {}

  void put(const Key& key, const Value& value) { slots_[place(key)] = {key, value, true}; }

  // Null when the key was never put or has been replaced.
  const Value* find(const Key& key) const {
    const Slot& slot = slots_[place(key)];
    return slot.used && slot.key == key ? &slot.value : nullptr;
  }

 private:
  struct Slot {
    Key key{};
    Value value{};
    bool used = false;
  };
  size_t place(const Key& key) const { return spread(key.hash()) >> shift_; }

  ZeroedArray<Slot> slots_;
  unsigned shift_;
};

}  // namespace htmtrace
