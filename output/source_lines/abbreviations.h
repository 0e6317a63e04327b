// SPDX-License-Identifier: GPL-2.0-or-later
// The cost of the abbreviations of a file: the tables that state the attributes of its entries.
// DWARF 2 to 5, 7.5.3.
//
// libdw reads the table of each unit, keeps it for this unit only, and searches all attributes of
// an entry for each attribute that a caller requests. Units may share a table of any size, and an
// entry of one byte may have any number of attributes without a value. A file of a few megabytes
// could therefore use all memory or take hours.
#pragma once

#include <cstddef>
#include <span>

#include "core/base/budget.h"

namespace htmtrace {

struct EntrySections {
  std::span<const std::byte> info;           // .debug_info
  std::span<const std::byte> types;          // .debug_types
  std::span<const std::byte> abbreviations;  // .debug_abbrev
  bool big_endian = false;
};

// Spends the memory of all units with their tables. Throws Error if the memory exceeds the budget,
// or if an entry has more attributes than compilers write. Accepts damaged tables, which libdw
// refuses.
void check_abbreviations(const EntrySections& sections, MemoryBudget& budget, WorkBudget& work);

}  // namespace htmtrace
