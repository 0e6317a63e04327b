// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/analysis/hot_spots.h"

#include <algorithm>
#include <numeric>

#include "core/base/add_counts.h"

namespace htmtrace {
namespace {

// The unit of the parts. The other units are multiples of it.
uint64_t smallest(const std::vector<uint64_t>& units) {
  return units.empty() ? 1 : *std::min_element(units.begin(), units.end());
}

}  // namespace

HotSpots::HotSpots(Wishes wishes, const SymbolTable& symbols)
    : wishes_(std::move(wishes)),
      symbols_(symbols),
      named_(!symbols.empty()),
      own_(wishes_.key, smallest(wishes_.units), symbols),
      code_(wishes_.entries) {
  for (size_t i = 0; i < wishes_.units.size(); i++) {
    data_.emplace_back(wishes_.entries);
    rooms_.push_back({wishes_.entries * Wishes::kListPlaces});
    counted_until_.push_back(0);
  }
}

void HotSpots::begin_trace(const MemoryOwners& owners) {
  take(own_);
  completer_ = {};
  work_ = nullptr;
  trace_owners_ = &owners;
  own_.begin_trace(owners);
  owners_.begin_trace(owners);
}

HotPart HotSpots::new_part() const {
  return {wishes_.key, smallest(wishes_.units), symbols_, trace_owners_};
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
void HotSpots::prefetch_lists(size_t unit, std::span<const Row> rows) {
  HotTable<HotData>& table = data_[unit];
  for (size_t i = 0; i < rows.size(); i++) {
    places_[i] = table.place_of(rows[i].key.address & ~(wishes_.units[unit] - 1));
    if (const HotData* const hot = table.row_at(places_[i])) {
      hot->sites.prefetch_size();
      hot->objects.prefetch_size();
    }
  }
  for (size_t i = 0; i < rows.size(); i++) {
    if (const HotData* const hot = table.row_at(places_[i])) {
      hot->sites.prefetch_place(rows[i].key.site);
      hot->objects.prefetch_place(rows[i].key.object);
    }
  }
}

// At most kAtOnce rows.
void HotSpots::take_data(std::span<const Row> rows) {
  for (size_t unit = 0; unit < data_.size(); unit++) {
    prefetch_lists(unit, rows);
    for (size_t i = 0; i < rows.size(); i++) {
      const uint64_t key = rows[i].key.address & ~(wishes_.units[unit] - 1);
      HotData& hot = data_[unit].at(key, places_[i]);
      if (data_[unit].error() != counted_until_[unit]) [[unlikely]]
        recount_room(unit);
      count(unit, rows[i], hot);
    }
  }
}

void HotSpots::count(size_t unit, const Row& row, HotData& hot) {
  const uint64_t count = row.entry.count;
  hot.count += count;
  hot.loads += row.key.kind == InstructionClass::kLoad ? count : 0;
  hot.stores += row.key.kind == InstructionClass::kStore ? count : 0;
  hot.atomics += row.key.kind == InstructionClass::kAtomic ? count : 0;
  if (owned::plain(row.entry.lowest_ea) < owned::plain(hot.lowest_ea)) {
    hot.lowest_ea = row.entry.lowest_ea;
  }
  if (row.key.site != HotPart::kNoSite) hot.sites.add(row.key.site, count, rooms_[unit]);
  if (named_) hot.objects.add(row.key.object, count, rooms_[unit]);
}

void HotSpots::take(HotPart& part) {
  part.finish();
  add_counts(mix_, part.mix());
  instructions_ = std::accumulate(mix_.classes.begin(), mix_.classes.end(), uint64_t{0});
  for (const auto& [site, hot] : part.code().rows()) {
    HotCode& sum = code_.at(site.value);
    sum.count += hot.count;
    sum.data += hot.data;
  }
  part.owners().visit([this](uint64_t owner, const OwnedWork& work) {
    OwnedWork& sum = owners_.of(owner);
    sum.count += work.count;
    sum.data += work.data;
  });
  const std::span<const Row> rows = part.data().rows();
  const auto prefetch = [&](size_t at) {
    for (size_t i = at; i < std::min(at + kAtOnce, rows.size()); i++) {
      for (size_t unit = 0; unit < data_.size(); unit++) {
        data_[unit].prefetch(rows[i].key.address & ~(wishes_.units[unit] - 1));
      }
    }
  };
  prefetch(0);
  for (size_t at = 0; at < rows.size(); at += kAtOnce) {
    prefetch(at + kAtOnce);
    take_data(rows.subspan(at, std::min(kAtOnce, rows.size() - at)));
  }
  for (HotPart::SeenWalk seen : part.walks()) {
    completer_.take(seen.walk);
    if (seen.selected) walks_.at(seen.walk.data_side ? 1 : 0).add(seen.walk);
  }
  part.clear();
}

}  // namespace htmtrace
