// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/print/csv_printer.h"

#include "output/io/csv_field.h"

namespace htmtrace {

CsvPrinter::CsvPrinter(TextOutput& output, std::string_view target, const SymbolTable* symbols)
    : output_(output), target_(csv_field(target)), names_(symbols) {}

char* CsvPrinter::put_symbols(char* to, const Instruction& instruction) {
  const auto put = [this, &to](std::string_view name) {
    *to++ = ',';
    if (name.empty()) return;
    output_.commit(to);
    output_.put(csv_field(name));
    to = output_.room();
  };
  put(names_.code(instruction).text());
  for (unsigned i = 0; i < instruction.data.size(); i++) {
    put(i < instruction.data_count ? names_.data(instruction.data[i]).text() : std::string_view());
  }
  return to;
}

}  // namespace htmtrace
