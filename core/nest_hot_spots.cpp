// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/nest_hot_spots.h"

#include <utility>

namespace htmtrace::nest {

HotSpots::HotSpots(Layout layout, Wishes wishes)
    : layout_(layout), wishes_(std::move(wishes)), names_(names_of(layout)) {
  for (size_t i = 0; i < wishes_.units.size(); i++) tables_.emplace_back(wishes_.entries);
}

void HotSpots::command(const Event& event, const Command& command, std::optional<LogicalAddr> la) {
  commands_++;
  if (!traces_.empty())
    traces_.back().chips[(command.tag.group & 15) << 4 | (command.tag.chip & 15)]++;
  const CommandName& name = names_.command(command.ttype, command.tsize);
  const bool retry =
      event.has_response && names_.response(name.response, event.response).starts_with("rty");
  const auto count = [&](HotAddress& hot) {
    hot.count++;
    hot.retries += retry ? 1 : 0;
    hot.sources.add(source_key(command.tag));
    hot.commands.add(command.ttype << 8 | command.tsize);
  };
  count(owners_.at(RealAddr{command.address}));
  if (wishes_.logical && !la) {
    without_address_++;
    return;
  }
  const uint64_t address = wishes_.logical ? la->value : command.address;
  for (size_t i = 0; i < tables_.size(); i++) {
    HotAddress& hot = tables_[i].at(address & ~(wishes_.units[i] - 1));
    count(hot);
    if (la) hot.lowest_la = std::min(hot.lowest_la, la->value);
  }
}

}  // namespace htmtrace::nest
