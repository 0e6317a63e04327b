// SPDX-License-Identifier: GPL-2.0-or-later
// Decoded events to lines of text. The format is an interface: htmtrace-decode(1), OUTPUT.
#pragma once

#include <cstring>
#include <string>
#include <string_view>

#include "core/core_events.h"
#include "output/hex_text.h"
#include "output/text_output.h"

namespace htmtrace {

// A sink for CoreDecoder.
class TextPrinter {
 public:
  TextPrinter(TextOutput& output, bool with_stamps) : output_(output), with_stamps_(with_stamps) {}

  void instruction(const Instruction& instruction) {
    char* at = output_.room();
    at = put_address(put(at, "ea="), instruction.has_ea, instruction.ea.value);
    at = put_opcode(put(at, " op="), instruction);
    at = put_address(put(at, " ra="), instruction.has_ra, instruction.ra.value);
    at = put_address(put(at, " la="), instruction.has_la, instruction.la.value);
    for (unsigned i = 0; i < instruction.data_count; i++) {
      const DataAccess& data = instruction.data[i];
      at = put_hex64(put(at, " dea="), data.ea.value);
      at = put_address(put(at, " dra="), data.has_ra, data.ra.value);
      at = put_address(put(at, " dla="), data.has_la, data.la.value);
    }
    *at++ = '\n';
    output_.commit(at);
  }

  void stamp(const Stamp& stamp) {
    if (with_stamps_) put_stamp(stamp);
  }

  void defect(const Defect&) {}

 private:
  static constexpr std::string_view kUnknown = "----------------";

  template <size_t N>
  static char* put(char* to, const char (&text)[N]) {
    std::memcpy(to, text, N - 1);
    return to + (N - 1);
  }
  static char* put_unknown(char* to, size_t digits) {
    std::memcpy(to, kUnknown.data(), digits);
    return to + digits;
  }

  static char* put_address(char* to, bool known, uint64_t address) {
    if (known) [[likely]] {
      return put_hex64(to, address);
    }
    return put_unknown(to, 16);
  }

  static char* put_opcode(char* to, const Instruction& instruction) {
    if (instruction.has_prefix) [[unlikely]] {
      to = put_hex32(to, instruction.prefix);
    }
    if (instruction.has_opcode) [[likely]] {
      return put_hex32(to, instruction.opcode);
    }
    return put_unknown(to, 8);
  }

  void put_stamp(const Stamp& stamp);

  TextOutput& output_;
  bool with_stamps_;
};

// The line of a stamp, without its end.
std::string stamp_line(const Stamp& stamp);

}  // namespace htmtrace
