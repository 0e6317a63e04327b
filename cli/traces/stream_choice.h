// SPDX-License-Identifier: GPL-2.0-or-later
// The traces of a stream of `htmtrace record -o -`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/traces/choice.h"

namespace htmtrace {

// Adds the traces that pass the filter, recording after recording. `name` is the stream's name in
// messages. Throws Error if the stream has no such trace, or the file cannot be read.
void add_stream(const std::filesystem::path& path, const std::string& name,
                const TargetFilter& filter, std::vector<ChosenTrace>& chosen);

}  // namespace htmtrace
