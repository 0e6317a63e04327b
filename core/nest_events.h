// SPDX-License-Identifier: GPL-2.0-or-later
// What a nest (bus) trace decodes to. Events hold the record as it is; its fields are taken out
// where they are wanted (core/nest_words.h).
#pragma once

#include <cstdint>

#include "core/nest_words.h"

namespace htmtrace::nest {

// Whose layout the records have. The layouts of POWER10 and later are not public.
enum class Layout : uint8_t { kUnknown, kPower8, kPower9 };

struct Event {
  enum class Kind : uint8_t {
    kCommand,
    kResponse,  // a combined response whose command is not known
    kStamp,
    kUnknown,  // a record whose layout is not known; a stamp without its tag
  };
  uint64_t offset = 0;  // of its record in the trace
  uint64_t time = 0;    // ticks
  Record record;
  Kind kind = Kind::kUnknown;
  uint8_t engine = 0;
  uint8_t port = 0;           // of a command or response
  uint8_t slot = 0;           // kResponse: where it is in the record
  bool has_response = false;  // kCommand
  uint8_t response = 0;       // its code
};

}  // namespace htmtrace::nest
