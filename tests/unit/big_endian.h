// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <string>

namespace htmtrace {

// Encodes a number as the hypervisor does.
inline std::string big_endian(uint64_t value) {
  std::string text;
  for (int shift = 56; shift >= 0; shift -= 8) text += static_cast<char>(value >> shift);
  return text;
}

}  // namespace htmtrace
