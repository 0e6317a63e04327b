// SPDX-License-Identifier: GPL-2.0-or-later
// The commands of gdb's `monitor`.
#pragma once

#include <string>
#include <string_view>

#include "cli/replay/player.h"
#include "cli/replay/stop_points.h"
#include "cli/traces/symbols.h"

namespace htmtrace {

class Monitor {
 public:
  // `symbols` must outlive this object.
  explicit Monitor(RecordedSymbols& symbols) : symbols_(symbols) {}

  // Returns lines for people. Throws Error if the trace cannot be read.
  std::string run(std::string_view command, Player& player, StopPoints& points) const;

 private:
  static std::string position(Player& player);
  static std::string process(Player& player);
  static std::string go(std::string_view where, Player& player);
  static std::string set_filter(std::string_view which, StopPoints& points);
  std::string stack(Player& player) const;

  RecordedSymbols& symbols_;
};

}  // namespace htmtrace
