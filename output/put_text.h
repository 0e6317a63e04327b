// SPDX-License-Identifier: GPL-2.0-or-later
// Text and numbers behind one another in a buffer that has room for them (TextOutput::room()). Each
// returns the place behind what it wrote.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/modes.h"

namespace htmtrace {

inline char* put_text(char* to, std::string_view text) {
  std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

inline char* put_decimal(char* to, uint64_t value) {
  constexpr size_t kMostDigits = 20;
  return std::to_chars(to, to + kMostDigits, value).ptr;
}

// "ir,dr,ee,le,sf": the bits that are known to be set; at most 30 characters, none when none is.
inline char* put_modes(char* to, Modes modes) {
  static constexpr struct {
    uint16_t bit;
    std::string_view name;
  } kNames[] = {{Modes::kHv, "hv,"}, {Modes::kPr, "pr,"}, {Modes::kIr, "ir,"},
                {Modes::kDr, "dr,"}, {Modes::kEe, "ee,"}, {Modes::kS, "s,"},
                {Modes::kTs, "ts,"}, {Modes::kLe, "le,"}, {Modes::kSf, "sf,"}};
  char* const begin = to;
  for (const auto& known : kNames) {
    if (modes.is(known.bit)) to = put_text(to, known.name);
  }
  return to == begin ? to : to - 1;
}

}  // namespace htmtrace
