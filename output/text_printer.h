// SPDX-License-Identifier: GPL-2.0-or-later
// Decoded events to lines of text. The format is an interface: htmtrace-decode(1), OUTPUT.
#pragma once

#include <cstring>
#include <string>
#include <string_view>

#include "core/core_events.h"
#include "core/radix_walk.h"
#include "output/hex_text.h"
#include "output/put_text.h"
#include "output/text_output.h"

namespace htmtrace {

// The line of a walk, without its end.
std::string walk_line(const Walk& walk);

// A sink for CoreDecoder.
class TextPrinter {
 public:
  struct Wishes {
    bool stamps = false;  // a line for each
    bool modes = false;   // the mode of each instruction
  };
  TextPrinter(TextOutput& output, Wishes wishes) : output_(output), wishes_(wishes) {}

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
    if (wishes_.modes) [[unlikely]] {
      at = put_mode_fields(at, instruction.modes);
    }
    *at++ = '\n';
    output_.commit(at);
  }

  void stamp(const Stamp& stamp) {
    if (wishes_.stamps) put_stamp(stamp);
  }

  // Comes only when walks are asked of the decoder.
  void walk(const Walk& walk) { output_.put(walk_line(walk) + "\n"); }

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

  static char* put_mode_fields(char* to, Modes modes);
  void put_stamp(const Stamp& stamp);

  TextOutput& output_;
  Wishes wishes_;
};

// The line of a stamp, without its end.
std::string stamp_line(const Stamp& stamp);

}  // namespace htmtrace
