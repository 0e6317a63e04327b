// SPDX-License-Identifier: GPL-2.0-or-later
// Decoded events as JSON Lines: one object a line. Addresses are strings, because the numbers of
// many readers of JSON hold 53 bits. The keys are an interface: htmtrace-decode(1), OUTPUT.
#pragma once

#include <string>
#include <string_view>

#include "core/core_events.h"
#include "core/instruction_class.h"
#include "core/radix_walk.h"
#include "output/address_names.h"
#include "output/hex_text.h"
#include "output/put_text.h"
#include "output/text_output.h"

namespace htmtrace {

// What a stamp tells, as the fields of an object without its braces.
std::string json_stamp_fields(const Stamp& stamp);

// A sink for CoreDecoder.
class JsonPrinter {
 public:
  // `target` names the trace in each object. With `symbols`, addresses have names.
  JsonPrinter(TextOutput& output, std::string_view target, bool with_stamps,
              const SymbolTable* symbols = nullptr);

  void instruction(const Instruction& instruction) {
    output_.put(begin_instruction_);
    char* at = put_decimal(output_.room(), instruction.offset);
    if (instruction.has_ea) at = put_address(put_text(at, ",\"ea\":\""), instruction.ea.value);
    if (instruction.has_opcode) at = put_opcode(put_text(at, ",\"op\":\""), instruction);
    if (instruction.has_ra) at = put_address(put_text(at, ",\"ra\":\""), instruction.ra.value);
    if (instruction.has_la) at = put_address(put_text(at, ",\"la\":\""), instruction.la.value);
    at = put_nature(at, instruction);
    if (names_.wanted()) at = put_symbol(at, names_.code(instruction));
    if (instruction.data_count != 0) {
      at = put_text(at, ",\"data\":[");
      for (unsigned i = 0; i < instruction.data_count; i++) {
        at = put_data(at, instruction.data[i]);
        if (names_.wanted()) at = put_symbol(at, names_.data(instruction.data[i]));
        at = put_text(at, "},");
      }
      at[-1] = ']';
    }
    output_.commit(put_text(at, "}\n"));
  }

  void stamp(const Stamp& stamp) {
    if (with_stamps_) put_stamp(stamp);
  }

  // Comes only when walks are asked of the decoder.
  void walk(const Walk& walk);

  void defect(const Defect&) {}

 private:
  // The digits of the address and the closing quote.
  static char* put_address(char* to, uint64_t address) {
    to = put_hex64(put_text(to, "0x"), address);
    *to = '"';
    return to + 1;
  }
  static char* put_opcode(char* to, const Instruction& instruction) {
    if (instruction.has_prefix) to = put_hex32(to, instruction.prefix);
    to = put_hex32(to, instruction.opcode);
    *to = '"';
    return to + 1;
  }
  static char* put_nature(char* to, const Instruction& instruction) {
    to = put_text(to, ",\"class\":\"");
    to = put_text(to, kInstructionClassNames[static_cast<size_t>(class_of(instruction))]);
    to = put_text(to, "\",\"privilege\":\"");
    to = put_text(to, kPrivilegeNames[static_cast<size_t>(privilege_of(instruction.modes))]);
    to = put_modes(put_text(to, "\",\"modes\":\""), instruction.modes);
    *to = '"';
    return to + 1;
  }
  // Without its end.
  static char* put_data(char* to, const DataAccess& data) {
    to = put_address(put_text(to, "{\"ea\":\""), data.ea.value);
    if (data.has_ra) to = put_address(put_text(to, ",\"ra\":\""), data.ra.value);
    if (data.has_la) to = put_address(put_text(to, ",\"la\":\""), data.la.value);
    return to;
  }
  // Nothing when the address has no name.
  char* put_symbol(char* to, std::string_view name);

  void put_stamp(const Stamp& stamp);

  TextOutput& output_;
  std::string begin_;              // of each object, the target in it
  std::string begin_instruction_;  // up to the offset
  bool with_stamps_;
  AddressNames names_;
};

}  // namespace htmtrace
