// SPDX-License-Identifier: GPL-2.0-or-later
// Prints decoded instructions as comma-separated values (RFC 4180, but lines end with a newline
// only). htmtrace-decode(1), OUTPUT, defines the columns as an interface.
#pragma once

#include <string>
#include <string_view>

#include "core/core_trace/events.h"
#include "core/core_trace/instruction_class.h"
#include "output/io/hex_text.h"
#include "output/io/put_text.h"
#include "output/io/text_output.h"
#include "output/print/put_modes.h"
#include "output/symbols/address_names.h"

namespace htmtrace {

inline constexpr std::string_view kCsvHeading =
    "target,offset,ea,op,ra,la,class,privilege,modes,dea,dra,dla,dea2,dra2,dla2\n";
inline constexpr std::string_view kCsvHeadingWithSymbols =
    "target,offset,ea,op,ra,la,class,privilege,modes,dea,dra,dla,dea2,dra2,dla2,symbol,dsymbol,"
    "dsymbol2\n";

// A sink for CoreDecoder.
class CsvPrinter {
 public:
  // `target` names the trace in each line. With `symbols`, addresses have names.
  CsvPrinter(TextOutput& output, std::string_view target, const SymbolTable* symbols = nullptr);

  void instruction(const Instruction& instruction) {
    output_.put(target_);
    char* at = put_decimal(output_.room(), instruction.offset);
    at = put_address(at, instruction.has_ea, instruction.ea.value);
    *at++ = ',';
    if (instruction.has_prefix) at = put_hex32(at, instruction.prefix);
    if (instruction.has_opcode) at = put_hex32(at, instruction.opcode);
    at = put_address(at, instruction.has_ra, instruction.ra.value);
    at = put_address(at, instruction.has_la, instruction.la.value);
    *at++ = ',';
    at = put_text(at, kInstructionClassNames[static_cast<size_t>(class_of(instruction))]);
    *at++ = ',';
    at = put_text(at, kPrivilegeNames[static_cast<size_t>(privilege_of(instruction.modes))]);
    at = put_modes(put_text(at, ",\""), instruction.modes);
    *at++ = '"';
    for (unsigned i = 0; i < instruction.data.size(); i++) {
      const DataAccess& data = instruction.data[i];
      const bool there = i < instruction.data_count;
      at = put_address(at, there, data.ea.value);
      at = put_address(at, there && data.has_ra, data.ra.value);
      at = put_address(at, there && data.has_la, data.la.value);
    }
    if (names_.wanted()) at = put_symbols(at, instruction);
    *at++ = '\n';
    output_.commit(at);
  }

  void stamp(const Stamp&) {}
  void defect(const Defect&) {}

 private:
  static char* put_address(char* to, bool known, uint64_t address) {
    *to++ = ',';
    return known ? put_hex64(put_text(to, "0x"), address) : to;
  }

  char* put_symbols(char* to, const Instruction& instruction);

  TextOutput& output_;
  std::string target_;  // with a trailing comma
  AddressNames names_;
};

// Returns `text` as a field, in quotes if necessary.
std::string csv_field(std::string_view text);

}  // namespace htmtrace
