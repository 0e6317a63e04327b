// SPDX-License-Identifier: GPL-2.0-or-later
// Formats sizes for people.
#pragma once

#include <cstdint>
#include <string>

namespace htmtrace {

// A measured size with one decimal: "1.5 GiB", "12.0 KiB", "700 bytes".
std::string rounded_size(uint64_t bytes);

// A chosen size in the largest unit up to MiB that needs no decimals: "16 MiB", "64 KiB", "128
// bytes".
std::string exact_size(uint64_t bytes);

}  // namespace htmtrace
