// SPDX-License-Identifier: GPL-2.0-or-later
// Prints the names of an instruction's modes.
#pragma once

#include <cstdint>

#include "core/core_trace/modes.h"
#include "output/print/text_piece.h"

namespace htmtrace {

// Writes "ir,dr,ee,le,sf": the names of the bits that are known to be set. Requires room for 31
// characters.
inline char* put_modes(char* to, Modes modes) {
  static constexpr struct {
    uint16_t bit;
    TextPiece<4> name;
  } kNames[] = {{Modes::kHv, TextPiece<4>("hv,")}, {Modes::kPr, TextPiece<4>("pr,")},
                {Modes::kIr, TextPiece<4>("ir,")}, {Modes::kDr, TextPiece<4>("dr,")},
                {Modes::kEe, TextPiece<4>("ee,")}, {Modes::kS, TextPiece<4>("s,")},
                {Modes::kTs, TextPiece<4>("ts,")}, {Modes::kLe, TextPiece<4>("le,")},
                {Modes::kSf, TextPiece<4>("sf,")}};
  char* const begin = to;
  for (const auto& known : kNames) {
    if (modes.is(known.bit)) to = known.name.put(to);
  }
  return to == begin ? to : to - 1;
}

}  // namespace htmtrace
