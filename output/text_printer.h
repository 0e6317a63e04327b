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
  TextPrinter(TextOutput& output, Wishes wishes)
      : output_(output), wishes_(wishes), more_(wishes.modes || wishes.disassembler != nullptr) {}

  [[gnu::always_inline]] void instruction(const Instruction& instruction) {
    char* at = output_.room();
    if (in_recent_page(instruction)) [[likely]] {
      at = put_by_page(at, instruction);
    } else {
      at = put_in_full(at, head_of(instruction));
    }
    if (instruction.data_count != 0) {
      at = put_data(at, instruction.data[0]);
      if (instruction.data_count == 2) [[unlikely]]
        at = put_data(at, instruction.data[1]);
    }
    if (more_) [[unlikely]] {
      at = put_more(at, head_of(instruction));
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

  // ---- most instructions are in the page of one before: their lines differ in the opcode, and in
  // the last three digits of the addresses, which are the same in each

  static constexpr uint64_t kPageOffset = 0xfff;
  static constexpr size_t kFields = 71;                // characters of ea= op= ra= la=
  static constexpr size_t kOpcodeAt = 23;              // the first digit of op=
  static constexpr size_t kPlacesAt[] = {16, 48, 68};  // the last three of ea=, ra=, la=

  // One comparison for all: a processor does not foresee which of several fails.
  [[gnu::always_inline]] bool in_recent_page(const Instruction& i) const {
    const uint64_t place = i.ea.value ^ recent_.ea;
    const uint64_t elsewhere = (i.ra.value ^ recent_.ra ^ place) |
                               (i.la.value ^ recent_.la ^ place) | (place & ~kPageOffset);
    return (elsewhere | (plain(i) ? 0 : 1)) == 0;
  }
  [[gnu::always_inline]] static bool plain(const Instruction& i) {
    return i.has_ea & i.has_ra & i.has_la & i.has_opcode & !i.has_prefix;
  }

  // The first three characters of `text` as it lies in memory, and a blank. In a register: to build
  // them in memory from smaller pieces and load them at once would wait for the store queue.
  static uint32_t blank_behind_three(uint64_t text) {
    if constexpr (std::endian::native == std::endian::little) {
      return (static_cast<uint32_t>(text) & 0x00ffffff) | uint32_t{' '} << 24;
    }
    return (static_cast<uint32_t>(text >> 32) & 0xffffff00) | uint32_t{' '};
  }

  [[gnu::always_inline]] char* put_by_page(char* to, const Instruction& instruction) const {
    std::memcpy(to, recent_.text, sizeof(recent_.text));
    const uint64_t place = instruction.ea.value ^ recent_.ea;
    // The opcode's digits, then those of the place in the page.
    const hex_text::Pair digits = reinterpret_cast<hex_text::Pair>(
        hex_text::digits_of(uint64_t{instruction.opcode} << 32 | place << 20));
    const uint64_t opcode_digits = digits[0];
    std::memcpy(to + kOpcodeAt, &opcode_digits, sizeof(opcode_digits));
    const uint32_t place_digits = blank_behind_three(digits[1]);
    for (const size_t at : kPlacesAt) std::memcpy(to + at, &place_digits, sizeof(place_digits));
    return to + kFields;
  }

  // What those need that are not inlined. The instruction itself cannot be handed to them: then it
  // would have to be in memory (core/plain_records.h).
  struct Head {
    struct Field {
      uint64_t value;
      bool known;
    };
    Field ea, opcode, ra, la, prefix;
    Modes modes;
  };
  [[gnu::always_inline]] static Head head_of(const Instruction& i) {
    return {.ea = {i.ea.value, i.has_ea},
            .opcode = {i.opcode, i.has_opcode},
            .ra = {i.ra.value, i.has_ra},
            .la = {i.la.value, i.has_la},
            .prefix = {i.prefix, i.has_prefix},
            .modes = {i.modes.bits, i.modes.known}};
  }

  char* put_in_full(char* to, const Head& head);

  [[gnu::always_inline]] static char* put_data(char* to, const DataAccess& data) {
    to = put_hex64(put(to, " dea="), data.ea.value);
    to = put_address(put(to, " dra="), data.has_ra, data.ra.value);
    return put_address(put(to, " dla="), data.has_la, data.la.value);
  }

  [[gnu::always_inline]] static char* put_address(char* to, bool known, uint64_t address) {
    if (known) [[likely]] {
      return put_hex64(to, address);
    }
    return put_unknown(to, 16);
  }

  // What is only put where it is wished.
  char* put_more(char* to, const Head& head) const;
  char* put_assembler(char* to, const Head& head) const;
  void put_stamp(const Stamp& stamp);

  TextOutput& output_;
  Wishes wishes_;
  bool more_;
  // The page of an instruction before, in which effective, real and logical addresses have the same
  // offset. At first one in which nothing is: real addresses have fewer bits.
  struct {
    uint64_t ea = 0, ra = ~uint64_t{0}, la = 0;
    char text[80];
  } recent_;
};

// The line of a stamp, without its end.
std::string stamp_line(const Stamp& stamp);

}  // namespace htmtrace
