// SPDX-License-Identifier: GPL-2.0-or-later
// The events of a decoded nest (bus) trace. An event holds the raw record; consumers extract the
// fields that they need (core/nest_trace/words.h).
#pragma once

#include <cstdint>

#include "core/nest_trace/words.h"

namespace htmtrace::nest {

// The processor whose record layout the trace uses. The layouts of POWER10 and later are not
// public.
enum class Layout : uint8_t { kUnknown, kPower8, kPower9 };

struct Event {
  enum class Kind : uint8_t {
    kCommand,
    kResponse,  // a combined response without a known command
    kStamp,
    kUnknown,  // a record of unknown layout, or a stamp without its tag
  };
  uint64_t offset = 0;  // offset of the record in the trace
  uint64_t time = 0;    // ticks
  Record record;
  Kind kind = Kind::kUnknown;
  uint8_t engine = 0;
  uint8_t port = 0;           // of a command or response
  uint8_t slot = 0;           // kResponse: bit position of the response in the record
  bool has_response = false;  // kCommand
  uint8_t response = 0;       // the response's code
};

}  // namespace htmtrace::nest
