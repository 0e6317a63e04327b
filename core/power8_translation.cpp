// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/power8_translation.h"

#include <algorithm>

namespace htmtrace {

Power8Translation::Entry* Power8Translation::find(unsigned table, uint64_t page) {
  if (tables_ == nullptr) return nullptr;
  for (Entry& entry : (*tables_).at(table).at(page % kSets)) {
    if (entry.learned != 0 && entry.page == page) return &entry;
  }
  return nullptr;
}

void Power8Translation::learn(EffectiveAddr address, uint64_t real_page, unsigned shift) {
  recent_page_ = kNoPage;
  if (tables_ == nullptr) tables_ = std::make_unique<std::array<Table, 3>>();
  for (unsigned table = 0; table < std::size(kShifts); table++) {
    const uint64_t page = address.value >> kShifts[table];
    Entry* entry = find(table, page);
    if (kShifts[table] != shift) {
      if (entry != nullptr) *entry = {};
      continue;
    }
    if (entry == nullptr) {
      auto& set = (*tables_).at(table).at(page % kSets);
      entry = std::min_element(set.begin(), set.end(), [](const Entry& a, const Entry& b) {
        return a.learned < b.learned;
      });
      if (entry->learned != 0) evictions_++;
    }
    *entry = {.page = page, .real = real_page, .learned = ++clock_};
  }
}

std::optional<RealAddr> Power8Translation::look_up(EffectiveAddr address) {
  const Entry* newest = nullptr;
  unsigned shift = 0;
  for (unsigned table = 0; table < std::size(kShifts); table++) {
    const Entry* entry = find(table, address.value >> kShifts[table]);
    if (entry == nullptr || (newest != nullptr && entry->learned < newest->learned)) continue;
    newest = entry;
    shift = kShifts[table];
  }
  if (newest == nullptr) return std::nullopt;
  const uint64_t offset = address.value & ((uint64_t{1} << shift) - 1);
  return RealAddr{newest->real | offset};
}

}  // namespace htmtrace
