// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/time_option.h"

#include <CLI/CLI.hpp>

#include "cli/units.h"

namespace htmtrace {

std::chrono::nanoseconds time_of_option(const char* option, const std::string& text) {
  if (const auto time = parse_duration(text)) return *time;
  throw CLI::ValidationError(option, text + " is not a time such as 500us, 10ms or 2s");
}

}  // namespace htmtrace
