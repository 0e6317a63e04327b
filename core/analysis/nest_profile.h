// SPDX-License-Identifier: GPL-2.0-or-later
// Profiles a nest (bus) trace for the comparison with another trace: its commands, their senders,
// and their addresses.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "core/analysis/nest_hot_spots.h"

namespace htmtrace::nest {

struct Tally {
  uint64_t count = 0;
};

class Profile {
 public:
  Profile(Layout layout, HotSpots::Wishes wishes)
      : spots_(layout, std::move(wishes)),
        names_(names_of(layout)),
        commands_(kKinds),
        sources_(kSources) {}

  // Call for every command, with or without an address.
  void seen(const Command& command) {
    seen_++;
    commands_.at(kind_key(names_.command(command.ttype, command.tsize), command)).count++;
    sources_.at(source_key(command.tag)).count++;
  }
  // Call for every command with an address.
  void command(const Event& event, const Command& command, std::optional<LogicalAddr> la) {
    spots_.command(event, command, la);
  }

  // Call it after the last command and before spots().
  void finish() { spots_.finish(); }

  uint64_t commands() const { return seen_; }
  const HotSpots& spots() const { return spots_; }
  const HotTable<Tally>& by_command() const { return commands_; }  // keyed by kind_key()
  const HotTable<Tally>& by_source() const { return sources_; }    // keyed by source_key()

 private:
  // All possible keys: ttype has 7 bits, tsize 8; group 4, chip 3, unit 10 (htm-nest-trace(5),
  // COMMANDS).
  static constexpr size_t kKinds = 1 << 15;
  static constexpr size_t kSources = 1 << 17;

  HotSpots spots_;
  const Names& names_;
  HotTable<Tally> commands_;
  HotTable<Tally> sources_;
  uint64_t seen_ = 0;
};

}  // namespace htmtrace::nest
