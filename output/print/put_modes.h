// SPDX-License-Identifier: GPL-2.0-or-later
// Prints the names of an instruction's modes.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/core_trace/modes.h"
#include "output/io/put_text.h"

namespace htmtrace {

// Writes "ir,dr,ee,le,sf": the names of the bits that are known to be set. Writes at most 30
// characters.
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
