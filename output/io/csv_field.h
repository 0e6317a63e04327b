// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace htmtrace {

// Returns `text` as a field of a CSV row (RFC 4180), in quotes if necessary.
std::string csv_field(std::string_view text);

}  // namespace htmtrace
