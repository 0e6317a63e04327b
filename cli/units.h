// SPDX-License-Identifier: GPL-2.0-or-later
// Parses numbers with units.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace htmtrace {

// Parses "65536", "64K", "16M", "1G" (powers of 1024, either case). Returns nothing for other
// texts.
std::optional<uint64_t> parse_size(std::string_view text);

// Parses "500us", "100ms", "10s", "2m", "1h", "0.5s". The default unit is seconds. Returns nothing
// for other texts, for less than a nanosecond, and for more than a hundred years.
std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text);

// Parses a time in seconds, such as "12.345678901" or "12.3s", to exact nanoseconds. Accepts up to
// nine digits after the point.
std::optional<uint64_t> parse_moment(std::string_view text);

}  // namespace htmtrace
