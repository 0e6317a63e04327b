// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/base/size_text.h"

#include <fmt/core.h>

#include <array>
#include <cstddef>

namespace htmtrace {

std::string rounded_size(uint64_t bytes) {
  static constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  double amount = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (amount >= 1024 && unit + 1 < kUnits.size()) {
    amount /= 1024;
    unit++;
  }
  return fmt::format("{:.1f} {}", amount, kUnits[unit]);
}

std::string exact_size(uint64_t bytes) {
  if (bytes >= 1 << 20 && bytes % (1 << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
  if (bytes >= 1 << 10 && bytes % (1 << 10) == 0) return fmt::format("{} KiB", bytes >> 10);
  return fmt::format("{} bytes", bytes);
}

}  // namespace htmtrace
