// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers with a few digits behind the point, without floating point.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace htmtrace {

// 3141: "3.141"
inline std::string decimal(uint64_t thousandths) {
  return fmt::format("{}.{:03}", thousandths / 1000, thousandths % 1000);
}

// In hundredths of a percent, rounded; `of` is not 0.
inline uint64_t hundredths_of(uint64_t part, uint64_t of) {
  __extension__ typedef unsigned __int128 Wide;
  return static_cast<uint64_t>((Wide{part} * 10000 + of / 2) / of);
}

// "12.34 %"; a dash of nothing.
inline std::string share(uint64_t part, uint64_t of) {
  if (of == 0) return "-";
  const uint64_t hundredths = hundredths_of(part, of);
  return fmt::format("{}.{:02} %", hundredths / 100, hundredths % 100);
}

}  // namespace htmtrace
