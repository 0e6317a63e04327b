// SPDX-License-Identifier: GPL-2.0-or-later
// The options that choose instructions.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string_view>

#include "core/selection.h"

namespace htmtrace {

// Declares --ea, --ra, --la, --dea, --dra, --dla, --privilege, --class, --ticks, --from-mark,
// --to-mark, --every, --first and --last. `selection` must live until the command line is parsed.
void declare_selection(CLI::App& app, Selection& selection);

// "1000-1fff" (the last address belongs to it), "1000+4K" or "1000"; hexadecimal but for a size
// with a unit.
std::optional<AddressRange> parse_range(std::string_view text);

}  // namespace htmtrace
