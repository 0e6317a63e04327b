// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/analysis/hot_spots.h"

namespace htmtrace {
const char* key_name(DataKey key) {
  switch (key) {
    case DataKey::kLogical:
      return "logical";
    case DataKey::kReal:
      return "real";
    case DataKey::kEffective:
      break;
  }
  return "effective";
}

HotSpots::HotSpots(Wishes wishes, const SymbolTable& symbols)
    : wishes_(std::move(wishes)),
      symbols_(symbols),
      named_(!symbols.empty()),
      cursor_(symbols),
      code_(wishes_.entries) {
  for (size_t i = 0; i < wishes_.units.size(); i++) {
    data_.emplace_back(wishes_.entries);
    rooms_.push_back({wishes_.entries * Wishes::kListPlaces});
    counted_until_.push_back(0);
  }
}

uint64_t HotSpots::named_site_of(EffectiveAddr address) {
  if (!recent_code_.span.holds(address.value)) {
    recent_code_.span = symbols_.code_span_of(address);
    recent_code_.key = symbol_key(recent_code_.span, address);
  }
  if (recent_code_.span.symbol != nullptr) return recent_code_.key;
  return address.value & ~(words::kLineBytes - 1);
}

uint64_t HotSpots::object_of(EffectiveAddr address) {
  RecentName& recent = recent_data_[(address.value >> 12 ^ address.value >> 6) % kRecent];
  if (!recent.span.holds(address.value)) {
    recent.span = symbols_.span_of(address);
    recent.key = symbol_key(recent.span, address);
  }
  return recent.span.symbol != nullptr ? recent.key : HotData::kNoObject;
}

// Recounts the room after the table dropped entries with their lists.
void HotSpots::recount_room(size_t unit) {
  size_t places = wishes_.entries * Wishes::kListPlaces;
  data_[unit].visit([&](uint64_t, const HotData& hot) {
    places -= std::min(places, hot.sites.places() + hot.objects.places());
  });
  rooms_[unit].places = places;
  counted_until_[unit] = data_[unit].error();
}

// A list's size and the slot of its next value lie in two cache lines. The first line gives the
// address of the second line, so the prefetches take two passes.
void HotSpots::prefetch_lists(size_t unit) {
  HotTable<HotData>& table = data_[unit];
  for (size_t i = 0; i < waiting_count_; i++) {
    places_[i] = table.place_of(waiting_[i].address & ~(wishes_.units[unit] - 1));
    if (const HotData* const hot = table.row_at(places_[i])) {
      hot->sites.prefetch_size();
      hot->objects.prefetch_size();
    }
  }
  for (size_t i = 0; i < waiting_count_; i++) {
    if (const HotData* const hot = table.row_at(places_[i])) {
      hot->sites.prefetch_place(waiting_[i].site);
      hot->objects.prefetch_place(waiting_[i].object);
    }
  }
}

void HotSpots::count_waiting() {
  for (size_t unit = 0; unit < data_.size(); unit++) {
    prefetch_lists(unit);
    for (size_t i = 0; i < waiting_count_; i++) {
      const uint64_t key = waiting_[i].address & ~(wishes_.units[unit] - 1);
      HotData& hot = data_[unit].at(key, places_[i]);
      if (data_[unit].error() != counted_until_[unit]) [[unlikely]]
        recount_room(unit);
      count(unit, waiting_[i], hot);
    }
  }
  waiting_count_ = 0;
}

void HotSpots::count(size_t unit, const Waiting& access, HotData& hot) {
  hot.count++;
  hot.loads += access.kind == InstructionClass::kLoad ? 1 : 0;
  hot.stores += access.kind == InstructionClass::kStore ? 1 : 0;
  hot.atomics += access.kind == InstructionClass::kAtomic ? 1 : 0;
  if (owned::plain(access.ea) < owned::plain(hot.lowest_ea)) hot.lowest_ea = access.ea;
  if (access.has_site) hot.sites.add(access.site, rooms_[unit]);
  if (named_) hot.objects.add(access.object, rooms_[unit]);
}

void HotSpots::count_code() {
  if (run_.count == 0) return;
  HotCode& hot = code_.at(running_);
  hot.count += run_.count;
  hot.data += run_.data;
  run_ = {};
}

void HotSpots::finish() {
  count_waiting();
  count_code();
}

// The trace enters the code with the key `site`.
void HotSpots::run(uint64_t site) {
  count_code();
  running_ = site;
  code_.prefetch(site);
}

}  // namespace htmtrace
