// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel's symbols, from a copy of /proc/kallsyms: lines of address, type, name and perhaps
// [module]. proc(5).
#pragma once

#include <cstdint>
#include <string_view>

#include "core/symbol_table.h"

namespace htmtrace {

struct KallsymsReport {
  uint64_t symbols = 0;
  uint64_t hidden = 0;     // address 0: the reader was not allowed to see it
  uint64_t malformed = 0;  // lines that are something else
};

// Any text will do. A name of a module becomes "name [module]".
KallsymsReport add_kallsyms(std::string_view text, SymbolTable& table);

}  // namespace htmtrace
