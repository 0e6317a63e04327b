// SPDX-License-Identifier: GPL-2.0-or-later
// Decoded events to lines of text. The format is an interface: htmtrace-decode(1), OUTPUT.
#pragma once

#include <cstring>
#include <string>
#include <string_view>

#include "core/core_events.h"
#include "core/radix_walk.h"
#include "output/disassembler.h"
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
    bool stamps = false;                   // a line for each
    bool modes = false;                    // the mode of each instruction
    Disassembler* disassembler = nullptr;  // each instruction as assembler
  };
  TextPrinter(TextOutput& output, Wishes wishes) : output_(output), wishes_(wishes) {}

  void instruction(const Instruction& instruction) {
    char* at = output_.room();
    at = in_recent_page(instruction) ? put_by_page(at, instruction) : put_in_full(at, instruction);
    for (unsigned i = 0; i < instruction.data_count; i++) {
      const DataAccess& data = instruction.data[i];
      at = put_hex64(put(at, " dea="), data.ea.value);
      at = put_address(put(at, " dra="), data.has_ra, data.ra.value);
      at = put_address(put(at, " dla="), data.has_la, data.la.value);
    }
    if (wishes_.modes) [[unlikely]] {
      at = put_mode_fields(at, instruction.modes);
    }
    if (wishes_.disassembler != nullptr) [[unlikely]] {
      at = put_assembler(at, instruction);
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

  // ---- most instructions are in the page of the one before: their lines differ in the opcode, and
  // in the last three digits of the addresses, which are the same in each

  static constexpr uint64_t kPageOffset = 0xfff;
  static constexpr size_t kFields = 71;                // characters of ea= op= ra= la=
  static constexpr size_t kOpcodeAt = 23;              // the first digit of op=
  static constexpr size_t kPlacesAt[] = {16, 48, 68};  // the last three of ea=, ra=, la=

  bool in_recent_page(const Instruction& i) const {
    return ((i.ea.value ^ recent_.ea) | (i.ra.value ^ recent_.ra) | (i.la.value ^ recent_.la)) <=
               kPageOffset &&
           (i.ea.value & kPageOffset) == (i.ra.value & kPageOffset) &&
           (i.ea.value & kPageOffset) == (i.la.value & kPageOffset) && plain(i);
  }
  static bool plain(const Instruction& i) {
    return i.has_ea && i.has_ra && i.has_la && i.has_opcode && !i.has_prefix;
  }

  // The first three characters of `text` as it lies in memory, and a blank. In a register: to build
  // them in memory from smaller pieces and load them at once would wait for the store queue.
  static uint32_t blank_behind_three(uint64_t text) {
    if constexpr (std::endian::native == std::endian::little) {
      return (static_cast<uint32_t>(text) & 0x00ffffff) | uint32_t{' '} << 24;
    }
    return (static_cast<uint32_t>(text >> 32) & 0xffffff00) | uint32_t{' '};
  }

  char* put_by_page(char* to, const Instruction& instruction) const {
    std::memcpy(to, recent_.text, sizeof(recent_.text));
    const uint64_t place = instruction.ea.value & kPageOffset;
    // The opcode's digits, then those of the place in the page.
    const hex_text::Pair digits = reinterpret_cast<hex_text::Pair>(
        hex_text::digits_of(uint64_t{instruction.opcode} << 32 | place << 20));
    const uint64_t opcode_digits = digits[0];
    std::memcpy(to + kOpcodeAt, &opcode_digits, sizeof(opcode_digits));
    const uint32_t place_digits = blank_behind_three(digits[1]);
    for (const size_t at : kPlacesAt) std::memcpy(to + at, &place_digits, sizeof(place_digits));
    return to + kFields;
  }

  char* put_in_full(char* to, const Instruction& instruction) {
    char* at = put_address(put(to, "ea="), instruction.has_ea, instruction.ea.value);
    at = put_opcode(put(at, " op="), instruction);
    at = put_address(put(at, " ra="), instruction.has_ra, instruction.ra.value);
    at = put_address(put(at, " la="), instruction.has_la, instruction.la.value);
    if (plain(instruction)) {
      recent_.ea = instruction.ea.value;
      recent_.ra = instruction.ra.value;
      recent_.la = instruction.la.value;
      std::memcpy(recent_.text, to, kFields);
    }
    return at;
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
  char* put_assembler(char* to, const Instruction& instruction) const;
  void put_stamp(const Stamp& stamp);

  TextOutput& output_;
  Wishes wishes_;
  // An instruction before. At first one that is in no page: real addresses have fewer bits.
  struct {
    uint64_t ea = 0, ra = ~uint64_t{0}, la = 0;
    char text[80];
  } recent_;
};

// The line of a stamp, without its end.
std::string stamp_line(const Stamp& stamp);

}  // namespace htmtrace
