// SPDX-License-Identifier: GPL-2.0-or-later
// CPU numbers as people and the kernel write them.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace htmtrace {

// "0-7,16": the numbers, ascending, each once. Nothing for anything else.
std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

// Throws Error.
std::vector<int> online_cpus();

}  // namespace htmtrace
