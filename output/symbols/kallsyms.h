// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the kernel's symbols from a copy of /proc/kallsyms. Each line holds an address, a type, a
// name and an optional [module]. proc(5).
#pragma once

#include <cstdint>
#include <string_view>

#include "core/analysis/symbol_table.h"

namespace htmtrace {

struct KallsymsReport {
  uint64_t symbols = 0;
  uint64_t hidden = 0;     // symbols with address 0, which the reader was not permitted to see
  uint64_t malformed = 0;  // lines that do not have this format
};

// Accepts any text. Throws Error when the symbols would take too much memory. The name of a symbol
// in a module becomes "name [module]".
KallsymsReport add_kallsyms(std::string_view text, SymbolTable& table);

}  // namespace htmtrace
