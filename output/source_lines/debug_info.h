// SPDX-License-Identifier: GPL-2.0-or-later
// Functions, source lines and inlined functions of the addresses of one program file, from its
// DWARF. Wraps libdw of elfutils, which reads the functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/budget.h"
#include "output/source_lines/debug_file.h"

namespace htmtrace {

// Returns whether this build can read DWARF, which needs libdw.
bool can_read_lines();

// A function at an address. The first frame is the innermost one: the function whose source has the
// instruction. Each further frame is the function into which the compiler inlined its predecessor,
// and its file and line state the position of the call.
struct SourceFrame {
  std::string_view function;  // its linkage name if it has one; empty: unknown
  std::string_view file;      // its path; empty: unknown
  uint32_t line = 0;          // 0: the compiler states no line
  bool operator==(const SourceFrame&) const = default;
};

// A row of the line table.
struct SourceRow {
  uint64_t begin = 0;
  uint64_t end = 0;           // `begin`: another row applies at this address
  std::string_view file;      // its path; empty: unknown
  uint32_t line = 0;          // 0: the compiler states no line
  uint32_t column = 0;        // 0: unknown
  uint32_t function = 0;      // the number of the function, or of the inlined copy, in its unit
  bool is_statement = false;  // a statement begins here
};

// A function, or a copy of it that the compiler inlined.
struct SourceFunction {
  std::string_view name;  // its linkage name if it has one; empty: unknown
  std::string_view file;  // that declares it; empty: unknown
  uint32_t line = 0;      // 0: unknown
  uint64_t address = 0;   // its first instruction
  uint64_t end = 0;       // of its code with the first instruction; 0: unknown
  bool is_inlined = false;
};

// Receives all source lines of a program. Names of files are valid up to end_unit().
struct SourceVisitor {
  // `marks_statements`: the rows of statements mark the beginning of each statement, once for each
  // copy of its code. GCC writes such rows when it optimizes.
  std::function<void(bool marks_statements)> begin_unit;
  std::function<void(const SourceFunction&)> function;
  std::function<void(const SourceRow&)> row;  // in the order of addresses in each sequence
  std::function<void()> end_unit;
};

// The budgets that the readers of all files share.
struct DebugBudgets {
  MemoryBudget memory;
  WorkBudget work;
};

// For one thread. All texts live as long as this object, and have no control characters.
class DebugInfo {
 public:
  // Throws Error if neither the program nor a separate file has debug information, if this build
  // cannot read it, or if it would take too much memory.
  // Throws std::bad_alloc or std::system_error if the system fails. The budgets must outlive this
  // object.
  DebugInfo(const std::filesystem::path& program, const DebugFolders& folders,
            DebugBudgets& budgets);
  ~DebugInfo();
  DebugInfo(const DebugInfo&) = delete;
  DebugInfo& operator=(const DebugInfo&) = delete;

  // Addresses from `begin` to `end` with equal frames.
  struct Span {
    uint64_t begin = 0;
    uint64_t end = 0;
    bool holds(uint64_t address) const { return address - begin < end - begin; }
  };

  // Sets `frames` to the frames of an address in the file; none if the address is unknown. Returns
  // the addresses around it that have the same frames. Addresses in damaged parts of the file are
  // unknown. Throws like the constructor if the system fails. The outermost frames are missing if
  // the texts of the other frames have kMostFrameBytes: many functions can share a text, so a small
  // file may have any number of long frames.
  static constexpr size_t kMostFrameBytes = 256 << 10;
  Span find(uint64_t address, std::vector<SourceFrame>& frames);

  // Sets `names` to the functions that the compiler inlined at an address, each after the function
  // into which it was inlined; none if the address is unknown. An unknown name is empty. Returns
  // the addresses around it that have the same functions. Throws like the constructor if the system
  // fails.
  // The innermost functions are missing after kMostInlined functions, or if the names would be
  // longer than kMostInlinedBytes together.
  static constexpr size_t kMostInlined = 512;
  static constexpr size_t kMostInlinedBytes = 32 << 10;
  Span find_inlined(uint64_t address, std::vector<std::string_view>& names);

  // Visits the functions and rows of each unit. Does not keep them.
  void visit(const SourceVisitor& visitor);

  // The reasons for which parts of the file are unusable, and the number of these parts.
  struct Damage {
    size_t units = 0;
    std::string first;
  };
  const Damage& damage() const;

  // The file that has the debug information.
  const std::filesystem::path& path() const;

 private:
  struct Reader;
  std::unique_ptr<Reader> reader_;
};

}  // namespace htmtrace
