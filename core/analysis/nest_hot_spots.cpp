// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/analysis/nest_hot_spots.h"

#include <utility>

namespace htmtrace::nest {

HotSpots::HotSpots(Layout layout, Wishes wishes)
    : layout_(layout), wishes_(std::move(wishes)), names_(names_of(layout)) {
  for (size_t i = 0; i < wishes_.units.size(); i++) {
    tables_.emplace_back(wishes_.entries);
    rooms_.push_back({wishes_.entries * kListPlaces});
    counted_until_.push_back(0);
  }
}

void HotSpots::seen(const Command& command) {
  seen_++;
  if (!traces_.empty())
    traces_.back().chips[(command.tag.group & 15) << 4 | (command.tag.chip & 15)]++;
}

void HotSpots::command(const Event& event, const Command& command, std::optional<LogicalAddr> la) {
  commands_++;
  const CommandName& name = names_.command(command.ttype, command.tsize);
  Waiting& waiting = waiting_[waiting_count_];
  waiting = {
      .address = wishes_.logical && la ? la->value : command.address,
      .la = la ? la->value : HotAddress::kNoAddress,
      .source = source_key(command.tag),
      .kind = kind_key(name, command),
      .is_retried = event.has_response && names_.is_retry(name.response, event.response),
  };
  count(waiting, owners_.at(RealAddr{command.address}), owner_room_);
  if (wishes_.logical && !la) {
    without_address_++;
    return;
  }
  for (size_t i = 0; i < tables_.size(); i++) {
    tables_[i].prefetch(waiting.address & ~(wishes_.units[i] - 1));
  }
  if (++waiting_count_ == kMostWaiting) count_waiting();
}

void HotSpots::count(const Waiting& command, HotAddress& hot, Counts::Room& room) {
  hot.count++;
  hot.retries += command.is_retried ? 1 : 0;
  hot.sources.add(command.source, room);
  hot.commands.add(command.kind, room);
}

void HotSpots::count_waiting() {
  for (size_t unit = 0; unit < tables_.size(); unit++) {
    HotTable<HotAddress>& table = tables_[unit];
    for (size_t i = 0; i < waiting_count_; i++) {
      const Waiting& command = waiting_[i];
      HotAddress& hot = table.at(command.address & ~(wishes_.units[unit] - 1));
      if (table.error() != counted_until_[unit]) [[unlikely]]
        recount_room(unit);
      count(command, hot, rooms_[unit]);
      hot.lowest_la = std::min(hot.lowest_la, command.la);
    }
  }
  waiting_count_ = 0;
}

// Counts the room again after the table dropped rows with their lists.
void HotSpots::recount_room(size_t unit) {
  size_t places = wishes_.entries * kListPlaces;
  tables_[unit].visit([&](uint64_t, const HotAddress& hot) {
    places -= std::min(places, hot.sources.places() + hot.commands.places());
  });
  rooms_[unit].places = places;
  counted_until_[unit] = tables_[unit].error();
}

}  // namespace htmtrace::nest
