// SPDX-License-Identifier: GPL-2.0-or-later
// CPU lists in the notation of users and of the kernel.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace htmtrace {

// Parses "0-7,16". Returns each number once, ascending, or nothing if the text is not a list.
std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

// Throws Error.
std::vector<int> online_cpus();
// Returns the online CPUs in the kernel's notation, such as "0-3,8". Throws Error.
std::string online_cpu_list();

// Throws Error, with the online CPUs, if one of `cpus` is offline or does not exist.
void check_online(const std::vector<int>& cpus);

}  // namespace htmtrace
