// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/nest_hot_spots.h"

#include <utility>

namespace htmtrace::nest {

HotSpots::HotSpots(Layout layout, Wishes wishes)
    : layout_(layout), wishes_(std::move(wishes)), names_(names_of(layout)) {
  for (size_t i = 0; i < wishes_.units.size(); i++) {
    tables_.emplace_back(wishes_.entries);
    rooms_.push_back({wishes_.entries * kListPlaces});
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
  const bool retry = event.has_response && names_.is_retry(name.response, event.response);
  const auto count = [&](HotAddress& hot, Counts::Room& room) {
    hot.count++;
    hot.retries += retry ? 1 : 0;
    hot.sources.add(source_key(command.tag), room);
    hot.commands.add(kind_key(name, command), room);
  };
  count(owners_.at(RealAddr{command.address}), owner_room_);
  if (wishes_.logical && !la) {
    without_address_++;
    return;
  }
  const uint64_t address = wishes_.logical ? la->value : command.address;
  for (size_t i = 0; i < tables_.size(); i++) {
    HotAddress& hot = tables_[i].at(address & ~(wishes_.units[i] - 1));
    count(hot, rooms_[i]);
    if (la) hot.lowest_la = std::min(hot.lowest_la, la->value);
  }
}

}  // namespace htmtrace::nest
