// SPDX-License-Identifier: GPL-2.0-or-later
// Translates the addresses of a nest trace's merged events, and passes the selected events on.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/memory_map/translation.h"
#include "core/nest_trace/decoder.h"
#include "core/nest_trace/sink.h"
#include "core/selection/selection.h"

namespace htmtrace {

// Throws Error if the selection has a condition that does not apply to nest traces. `trace` is the
// name of the trace.
void check_nest_selection(const Selection& selection, const std::string& trace);

template <nest::SelectedSink Next>
class NestChoice {
 public:
  struct Wishes {
    const Selection& selection;
    const std::vector<std::string>& commands;  // names; empty: all
    const TranslationMap& map;
    uint64_t limit = Selection::kAny;  // maximum number of commands, selected or not
  };

  // All arguments except `layout` must outlive this object.
  NestChoice(Wishes wishes, nest::Layout layout, Next& next)
      : wishes_(wishes),
        layout_(layout),
        names_(nest::names_of(layout)),
        cursor_(wishes.map),
        next_(next),
        selects_commands_(!wishes.selection.ra.empty() || !wishes.selection.la.empty() ||
                          !wishes.commands.empty()) {}

  void event(const nest::Event& event) {
    const Selection& s = wishes_.selection;
    bool wanted = s.ticks.holds(event.time);
    std::optional<LogicalAddr> la;
    if (event.kind == nest::Event::Kind::kStamp) {
      if (wanted) next_.event(event, la);
      return;
    }
    commands_ += event.kind == nest::Event::Kind::kCommand ? 1 : 0;
    if (event.kind == nest::Event::Kind::kCommand && layout_ != nest::Layout::kUnknown) {
      wanted = look_at(event, la) && wanted;
    } else if (selects_commands_) {
      wanted = false;
    }
    // Without --every, no event needs a division.
    if (!wanted || (s.every != 1 && passed_++ % s.every != 0)) return;
    taken_++;
    next_.event(event, la);
  }

  // No later event can be selected, and no event may follow.
  bool satisfied() const { return taken_ >= wishes_.selection.first || commands_ >= wishes_.limit; }
  // The number of selected events.
  uint64_t taken() const { return taken_; }
  uint64_t translated() const { return translated_; }
  uint64_t untranslated() const { return untranslated_; }

 private:
  static bool in(const Selection::Ranges& ranges, std::optional<uint64_t> address) {
    return ranges.empty() ||
           (address && std::any_of(ranges.begin(), ranges.end(), [&](const AddressRange& range) {
              return range.holds(*address);
            }));
  }

  // Returns whether the command is selected. Sets `la` if the logical address is known. Calls
  // find() instead of translate(), for the reason that find() states.
  [[gnu::always_inline]] bool look_at(const nest::Event& event, std::optional<LogicalAddr>& la) {
    const nest::Command command = nest::command_of(layout_, event.record);
    const nest::CommandName& name = names_.command(command.ttype, command.tsize);
    if (name.port == nest::PortRule::kAddress) {
      const RealAddr address{command.address};
      if (const TranslationMap::Range* const range = cursor_.find(address)) [[likely]] {
        la = range->translate(address);
        translated_++;
      } else {
        untranslated_++;
      }
    }
    return !selects_commands_ || selects(command, name, la);
  }

  // `la` is the logical address of the command, if known.
  bool selects(const nest::Command& command, const nest::CommandName& name,
               const std::optional<LogicalAddr>& la) const {
    const bool has_address = name.port == nest::PortRule::kAddress;
    const std::vector<std::string>& commands = wishes_.commands;
    return in(wishes_.selection.ra, has_address ? std::optional(command.address) : std::nullopt) &&
           in(wishes_.selection.la, la ? std::optional(la->value) : std::nullopt) &&
           (commands.empty() ||
            std::find(commands.begin(), commands.end(), name.name) != commands.end());
  }

  Wishes wishes_;
  nest::Layout layout_;
  const nest::Names& names_;
  TranslationMap::Cursor cursor_;
  Next& next_;
  bool selects_commands_;
  uint64_t commands_ = 0;
  uint64_t passed_ = 0;
  uint64_t taken_ = 0;
  uint64_t translated_ = 0;
  uint64_t untranslated_ = 0;
};

}  // namespace htmtrace
