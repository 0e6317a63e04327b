// SPDX-License-Identifier: GPL-2.0-or-later
// Prints numbers with a few decimal digits, without floating-point arithmetic.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace htmtrace {

// 3141: "3.141"
inline std::string decimal(uint64_t thousandths) {
  return fmt::format("{}.{:03}", thousandths / 1000, thousandths % 1000);
}

// Returns the share in hundredths of a percent, rounded. `of` must not be 0.
inline uint64_t hundredths_of(uint64_t part, uint64_t of) {
  __extension__ typedef unsigned __int128 Wide;
  return static_cast<uint64_t>((Wide{part} * 10000 + of / 2) / of);
}

// Returns "12.34 %", or a dash if `of` is 0.
inline std::string share(uint64_t part, uint64_t of) {
  if (of == 0) return "-";
  const uint64_t hundredths = hundredths_of(part, of);
  return fmt::format("{}.{:02} %", hundredths / 100, hundredths % 100);
}

}  // namespace htmtrace
