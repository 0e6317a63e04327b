// SPDX-License-Identifier: GPL-2.0-or-later
// The traces of a stream of `htmtrace record -o -`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/traces/choice.h"

namespace htmtrace {

// Adds those that pass the filter, recording after recording; `name` is for people. Throws Error
// if the stream has no such part, or the file cannot be read.
void add_stream(const std::filesystem::path& path, const std::string& name,
                const TargetFilter& filter, std::vector<ChosenTrace>& chosen);

}  // namespace htmtrace
