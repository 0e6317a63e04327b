// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers with units, as people type them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace htmtrace {

// "65536", "64K", "16M", "1G" (powers of 1024, either case). Nothing for anything else.
std::optional<uint64_t> parse_size(std::string_view text);

// "500us", "100ms", "10s", "2m", "1h", "0.5s". A number without unit is seconds. Nothing for
// anything else, for less than a nanosecond, and for more than a hundred years.
std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text);

// "12.345678901": seconds as a point in time, in nanoseconds, exactly. Up to nine digits behind the
// point; also "12.3s".
std::optional<uint64_t> parse_moment(std::string_view text);

}  // namespace htmtrace
