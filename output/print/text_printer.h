// SPDX-License-Identifier: GPL-2.0-or-later
// Prints decoded events as lines of text. htmtrace-decode(1), OUTPUT, defines the format as an
// interface.
#pragma once

#include <array>
#include <cstring>
#include <string>
#include <string_view>

#include "core/core_trace/events.h"
#include "core/core_trace/radix_walk.h"
#include "output/io/hex_text.h"
#include "output/io/put_text.h"
#include "output/io/text_output.h"
#include "output/print/field_list.h"
#include "output/print/text_page.h"
#include "output/symbols/address_names.h"

namespace htmtrace {

// Returns the line of a walk without its line end.
std::string walk_line(const Walk& walk);

// A sink for CoreDecoder.
class TextPrinter {
 public:
  struct Wishes {
    bool stamps = false;                   // one line for each stamp
    bool modes = false;                    // the mode of each instruction
    bool disassemble = false;              // prints each instruction as assembler
    const SymbolTable* symbols = nullptr;  // prints names of addresses
  };
  TextPrinter(TextOutput& output, Wishes wishes)
      : output_(output),
        wishes_(wishes),
        has_more_(wishes.modes || wishes.disassemble),
        names_(wishes.symbols) {}

  [[gnu::always_inline]] void instruction(const Instruction& instruction) {
    char* at = output_.room();
    const bool in_page =
        plain(instruction) &
        page_.holds(instruction.ea.value, instruction.ra.value, instruction.la.value);
    if (in_page) [[likely]] {
      at = page_.put(at, instruction.ea.value, instruction.opcode);
    } else {
      at = put_in_full(at, head_of(instruction));
    }
    if (instruction.data_count != 0) {
      at = put_data(at, instruction.data[0]);
      if (instruction.data_count == 2) [[unlikely]]
        at = put_data(at, instruction.data[1]);
    }
    if (in_named_rows() && has_page(instruction)) {
      if (!in_page || !names_in_page_) {
        names_.enter_page(instruction.ea, instruction.la, instruction.has_la);
      }
      names_in_page_ = in_page;
      at = put_code_name(
          at, names_.code_in_page(instruction.ea, instruction.opcode, instruction.modes.bits));
      for (unsigned i = 0; i < instruction.data_count; i++) {
        at = put_data_name(at, instruction.data[i]);
      }
    } else if (has_more_ || names_.wanted()) [[unlikely]] {
      names_in_page_ = false;
      at = put_more(at, head_of(instruction), data_of(instruction));
    }
    *at++ = '\n';
    output_.commit(at);
  }

  // Prints runs of instructions in one page (core/core_trace/plain_pages.h), with the names of the
  // addresses if `kNamed`. Without names, no function needs the address of this object, so all
  // members are in registers.
  template <bool kNamed>
  class PageRows {
   public:
    explicit PageRows(TextPrinter& printer)
        : printer_(&printer), to_(printer.output_.room()), last_(printer.output_.last_room()) {}

    // The following instructions are in the page of these addresses.
    [[gnu::always_inline]] void enter(EffectiveAddr ea, RealAddr ra, LogicalAddr la, bool has_la) {
      last_at_ = printer_->page_.enter(ea.value, ra.value, la.value, has_la);
      if constexpr (kNamed) printer_->names_.enter_page(ea, la, has_la);
    }
    [[gnu::always_inline]] void instruction(EffectiveAddr ea, uint32_t opcode, uint16_t modes) {
      make_room();
      char* const to = printer_->page_.put(to_, ea.value, opcode, last_at_);
      end(put_code_name(to, ea, opcode, modes));
    }
    [[gnu::always_inline]] void instruction(EffectiveAddr ea, uint32_t opcode, uint16_t modes,
                                            const DataAccess& data) {
      make_room();
      char* const to = put_data(printer_->page_.put(to_, ea.value, opcode, last_at_), data);
      end(put_data_name(put_code_name(to, ea, opcode, modes), data));
    }
    // Call this before anything else is printed.
    [[gnu::always_inline]] void finish() { printer_->output_.commit(to_); }

   private:
    [[gnu::always_inline]] void make_room() {
      // A long name may have moved the buffer of the output.
      if constexpr (kNamed) last_ = printer_->output_.last_room();
      if (to_ <= last_) [[likely]]
        return;
      printer_->output_.commit(to_);
      to_ = printer_->output_.room();
      last_ = printer_->output_.last_room();
    }
    [[gnu::always_inline]] char* put_code_name(char* to, EffectiveAddr ea, uint32_t opcode,
                                               uint16_t modes) {
      if constexpr (!kNamed) return to;
      return printer_->put_code_name(to, printer_->names_.code_in_page(ea, opcode, modes));
    }
    [[gnu::always_inline]] char* put_data_name(char* to, const DataAccess& data) {
      if constexpr (!kNamed) return to;
      return printer_->put_data_name(to, data);
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
  using Rows = PageRows<false>;
  bool in_rows() const { return !has_more_ && !names_.wanted(); }
  using NamedRows = PageRows<true>;
  bool in_named_rows() const { return !has_more_ && names_.wanted(); }

  void stamp(const Stamp& stamp) {
    if (wishes_.stamps) put_stamp(stamp);
  }

  // The decoder calls this only after follow_walks().
  void walk(const Walk& walk) { output_.put(walk_line(walk) + "\n"); }

  void defect(const Defect&) {}

 private:
  static constexpr std::string_view kUnknown = "----------------";

  using Field = InstructionField;

  static char* put_unknown(char* to, size_t digits) {
    std::memcpy(to, kUnknown.data(), digits);
    return to + digits;
  }

  // Returns whether TextPage can print the instruction.
  [[gnu::always_inline]] static bool plain(const Instruction& i) {
    return i.has_ea & i.has_ra & i.has_la & i.has_opcode & !i.has_prefix;
  }

  // Returns whether AddressNames::code_in_page() accepts the instruction.
  [[gnu::always_inline]] static bool has_page(const Instruction& i) {
    return i.has_ea & i.has_opcode & !i.has_prefix & (i.modes.known == Modes::kAll);
  }

  // The values for functions that are not inlined. Passing the instruction itself would force it
  // into memory (core/core_trace/plain_records.h).
  struct Head {
    struct Value {
      uint64_t value;
      bool known;
    };
    Value ea, opcode, ra, la, prefix;
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
    std::array<Head::Value, 2> la;
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
    to = put_hex64(kTextLabel<AccessField::kEa>.put(to), data.ea.value);
    to = put_address(kTextLabel<AccessField::kRa>.put(to), data.has_ra, data.ra.value);
    return put_address(kTextLabel<AccessField::kLa>.put(to), data.has_la, data.la.value);
  }

  [[gnu::always_inline]] static char* put_address(char* to, bool known, uint64_t address) {
    if (known) [[likely]] {
      return put_hex64(to, address);
    }
    return put_unknown(to, 16);
  }

  // Writes the optional fields.
  char* put_more(char* to, const Head& head, const Data& data);
  char* put_names(char* to, const Head& head, const Data& data);
  AddressNames::Name code_name(const Head& head);
  [[gnu::always_inline]] char* put_code_name(char* to, AddressNames::Name name) {
    return put_name(kTextLabel<Field::kSymbol>.put(to), name);
  }
  [[gnu::always_inline]] char* put_data_name(char* to, const DataAccess& data) {
    return put_name(kTextLabel<AccessField::kSymbol>.put(to), names_.data(data));
  }
  [[gnu::always_inline]] char* put_name(char* to, AddressNames::Name name) {
    if (name.is_word()) return name.put(to);
    if (!name.empty()) [[unlikely]]
      return put_other_name(to, name.text());
    *to = '-';
    return to + 1;
  }
  char* put_other_name(char* to, std::string_view name);
  static char* put_assembler(char* to, const Head& head);
  void put_stamp(const Stamp& stamp);

  TextOutput& output_;
  Wishes wishes_;
  bool has_more_;  // prints optional fields other than names
  TextPage page_;  // the page of an earlier instruction
  AddressNames names_;
  bool names_in_page_ = false;  // names_.enter_page() last received the page in page_
};

// Returns the line of a stamp without its line end.
std::string stamp_line(const Stamp& stamp);

}  // namespace htmtrace
