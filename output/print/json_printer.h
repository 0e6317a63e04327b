// SPDX-License-Identifier: GPL-2.0-or-later
// Prints decoded events as JSON Lines, one object a line. Addresses are strings, because many JSON
// readers hold numbers in 53 bits. htmtrace-decode(1), OUTPUT, defines the keys as an interface.
#pragma once

#include <string>
#include <string_view>

#include "core/core_trace/events.h"
#include "core/core_trace/instruction_class.h"
#include "core/core_trace/radix_walk.h"
#include "output/io/hex_text.h"
#include "output/io/put_text.h"
#include "output/io/text_output.h"
#include "output/print/put_modes.h"
#include "output/symbols/address_names.h"

namespace htmtrace {

// Returns the content of a stamp as the fields of an object, without braces.
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

  // The decoder calls this only if it was asked for walks.
  void walk(const Walk& walk);

  void defect(const Defect&) {}

 private:
  // Writes the digits of the address and the closing quote.
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
  // Omits the end of the object.
  static char* put_data(char* to, const DataAccess& data) {
    to = put_address(put_text(to, "{\"ea\":\""), data.ea.value);
    if (data.has_ra) to = put_address(put_text(to, ",\"ra\":\""), data.ra.value);
    if (data.has_la) to = put_address(put_text(to, ",\"la\":\""), data.la.value);
    return to;
  }
  // Writes nothing if the address has no name.
  char* put_symbol(char* to, std::string_view name);

  void put_stamp(const Stamp& stamp);

  TextOutput& output_;
  std::string begin_;              // the start of each object, including the target
  std::string begin_instruction_;  // the start up to the offset
  bool with_stamps_;
  AddressNames names_;
};

}  // namespace htmtrace
