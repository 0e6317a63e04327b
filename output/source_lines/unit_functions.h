// SPDX-License-Identifier: GPL-2.0-or-later
// The functions and inlined functions of one unit of a program. Only files that wrap libdw include
// this header.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "output/source_lines/dwarf_file.h"
#include "output/source_lines/painted_ranges.h"

namespace htmtrace {

class UnitFunctions {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};
  struct Function {
    uint32_t parent = kNone;  // the function into which it was inlined; kNone: it is not inlined
    uint32_t name = 0;        // DwarfFile::name_at()
    uint32_t call_file = 0;
    uint32_t call_line = 0;
  };
  // Where a function begins.
  struct Begin {
    uint32_t function = kNone;  // for at()
    uint32_t file = 0;          // of its source
    uint32_t line = 0;          // 0: the unit does not state it
    uint64_t address = 0;       // its first instruction
    // The end of its range of addresses with the first instruction. 0: no range has it, because the
    // compiler has moved the first instruction of an inlined copy.
    uint64_t end = 0;
    bool is_inlined = false;  // a copy that the compiler inlined
  };

  // `is_code` states whether the linker has kept the code at an address. With `begins`, adds each
  // function that has code. Throws Error if the entries are damaged.
  void read(DwarfFile& file, Dwarf_Die& unit, const std::function<bool(uint64_t)>& is_code,
            std::vector<Begin>* begins = nullptr);

  // The innermost function at an address, and the addresses around it with the same result.
  struct Found {
    uint32_t function = kNone;  // for at()
    uint64_t begin = 0;
    uint64_t end = 0;
  };
  Found find(uint64_t address) const;
  const Function& at(uint32_t number) const { return functions_[number]; }

 private:
  class Reading;
  using Range = PaintedRanges<uint32_t>::Range;

  std::vector<Function> functions_;
  std::vector<Range> ranges_;
};

}  // namespace htmtrace
