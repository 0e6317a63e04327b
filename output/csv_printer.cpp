// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/csv_printer.h"

namespace htmtrace {

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char character : text) {
    if (character == '"') quoted += '"';
    quoted += character;
  }
  return quoted + '"';
}

CsvPrinter::CsvPrinter(TextOutput& output, std::string_view target, const SymbolTable* symbols)
    : output_(output), target_(csv_field(target) + ","), names_(symbols) {}

char* CsvPrinter::put_symbols(char* to, const Instruction& instruction) {
  const auto put = [this, &to](bool known, EffectiveAddr address) {
    *to++ = ',';
    if (!known) return;
    output_.commit(to);
    output_.put(csv_field(names_.text(address)));
    to = output_.room();
  };
  put(instruction.has_ea, instruction.ea);
  for (unsigned i = 0; i < instruction.data.size(); i++) {
    put(i < instruction.data_count, instruction.data[i].ea);
  }
  return to;
}

}  // namespace htmtrace
