// SPDX-License-Identifier: GPL-2.0-or-later
// The options that select instructions.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/traces/named_symbols.h"
#include "core/selection/selection.h"

namespace htmtrace {

// Declares --ea, --ra, --la, --dea, --dra, --dla, --function, --data, --code, --process,
// --privilege, --class, --ticks, --from-mark, --to-mark, --every, --first and --last. `selection`,
// `names` and `processes` must live until the command line is parsed.
void declare_selection(CLI::App& app, Selection& selection, NameOptions& names,
                       std::vector<std::string>& processes);

// Warns when --ea names a single address and `selected` is 0. Most such addresses are those of
// functions that nm printed. `trace` is the name of the trace.
void warn_if_never_entered(const Selection& selection, uint64_t selected, const std::string& trace);

// Parses "1000-1fff" (both ends are part of the range), "1000+4K" or "1000". Numbers are
// hexadecimal, except a size with a unit.
std::optional<AddressRange> parse_range(std::string_view text);

}  // namespace htmtrace
