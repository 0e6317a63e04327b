// SPDX-License-Identifier: GPL-2.0-or-later
// Decoded events to lines of text. The format is an interface: htmtrace-decode(1), OUTPUT.
#pragma once

#include <array>
#include <cstring>
#include <string>
#include <string_view>

#include "core/core_events.h"
#include "core/radix_walk.h"
#include "output/address_names.h"
#include "output/disassembler.h"
#include "output/hex_text.h"
#include "output/put_text.h"
#include "output/text_output.h"
#include "output/text_page.h"

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
    const SymbolTable* symbols = nullptr;  // names of addresses
  };
  TextPrinter(TextOutput& output, Wishes wishes)
      : output_(output),
        wishes_(wishes),
        more_(wishes.modes || wishes.disassembler != nullptr || wishes.symbols != nullptr),
        names_(wishes.symbols) {}

  [[gnu::always_inline]] void instruction(const Instruction& instruction) {
    char* at = output_.room();
    if (plain(instruction) &
        page_.holds(instruction.ea.value, instruction.ra.value, instruction.la.value)) [[likely]] {
      at = page_.put(at, instruction.ea.value, instruction.opcode);
    } else {
      at = put_in_full(at, head_of(instruction));
    }
    if (instruction.data_count != 0) {
      at = put_data(at, instruction.data[0]);
      if (instruction.data_count == 2) [[unlikely]]
        at = put_data(at, instruction.data[1]);
    }
    if (more_) [[unlikely]] {
      at = put_more(at, head_of(instruction), data_of(instruction));
    }
    *at++ = '\n';
    output_.commit(at);
  }

  // For rows of instructions in one page after the other (core/plain_pages.h). Nothing needs its
  // address, so that all of it is in registers.
  class Rows {
   public:
    explicit Rows(TextPrinter& printer)
        : printer_(&printer), to_(printer.output_.room()), last_(printer.output_.last_room()) {}

    // The following instructions are in the page of these.
    [[gnu::always_inline]] void enter(EffectiveAddr ea, RealAddr ra, LogicalAddr la, bool has_la) {
      last_at_ = printer_->page_.enter(ea.value, ra.value, la.value, has_la);
    }
    [[gnu::always_inline]] void instruction(uint64_t place, uint32_t opcode) {
      make_room();
      end(printer_->page_.put(to_, place, opcode, last_at_));
    }
    [[gnu::always_inline]] void instruction(uint64_t place, uint32_t opcode,
                                            const DataAccess& data) {
      make_room();
      end(put_data(printer_->page_.put(to_, place, opcode, last_at_), data));
    }
    // Before anything else is put.
    [[gnu::always_inline]] void finish() { printer_->output_.commit(to_); }

   private:
    [[gnu::always_inline]] void make_room() {
      if (to_ <= last_) [[likely]]
        return;
      printer_->output_.commit(to_);
      to_ = printer_->output_.room();
      last_ = printer_->output_.last_room();
    }
    [[gnu::always_inline]] void end(char* to) {
      *to = '\n';
      to_ = to + 1;
    }

    TextPrinter* printer_;
    char* to_;
    char* last_;
    size_t last_at_ = 0;
  };
  // Lines need nothing that Rows is not told.
  bool in_rows() const { return !more_; }

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

  // What TextPage has a line for.
  [[gnu::always_inline]] static bool plain(const Instruction& i) {
    return i.has_ea & i.has_ra & i.has_la & i.has_opcode & !i.has_prefix;
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

  struct Data {
    std::array<EffectiveAddr, 2> ea;
    std::array<Head::Field, 2> la;
    unsigned count;
  };
  [[gnu::always_inline]] static Data data_of(const Instruction& i) {
    return {
        .ea = {i.data[0].ea, i.data[1].ea},
        .la = {{{i.data[0].la.value, i.data[0].has_la}, {i.data[1].la.value, i.data[1].has_la}}},
        .count = i.data_count};
  }

  char* put_in_full(char* to, const Head& head);

  [[gnu::always_inline]] static char* put_data(char* to, const DataAccess& data) {
    to = put_hex64(put(to, " dea=   ") - 3, data.ea.value);
    to = put_address(put(to, " dra=   ") - 3, data.has_ra, data.ra.value);
    return put_address(put(to, " dla=   ") - 3, data.has_la, data.la.value);
  }

  [[gnu::always_inline]] static char* put_address(char* to, bool known, uint64_t address) {
    if (known) [[likely]] {
      return put_hex64(to, address);
    }
    return put_unknown(to, 16);
  }

  // What is only put where it is wished.
  char* put_more(char* to, const Head& head, const Data& data);
  char* put_names(char* to, const Head& head, const Data& data);
  char* put_name(char* to, std::string_view field, std::string_view name);
  char* put_assembler(char* to, const Head& head) const;
  void put_stamp(const Stamp& stamp);

  TextOutput& output_;
  Wishes wishes_;
  bool more_;
  TextPage page_;  // of an instruction before
  AddressNames names_;
};

// The line of a stamp, without its end.
std::string stamp_line(const Stamp& stamp);

}  // namespace htmtrace
