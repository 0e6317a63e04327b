// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <chrono>
#include <string>

namespace htmtrace {

// Parses an option's time such as 500us, 10ms or 2s. Throws CLI::ValidationError.
std::chrono::nanoseconds time_of_option(const char* option, const std::string& text);

}  // namespace htmtrace
