// SPDX-License-Identifier: GPL-2.0-or-later
// An open file with debug information, and the budgets of its readers. Only files that wrap libdw
// include this header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "output/source_lines/debug_info.h"
#include "output/source_lines/entry_texts.h"
#include "output/source_lines/line_program.h"
#include "output/source_lines/range_lists.h"
#include "output/source_lines/shared_texts.h"

namespace htmtrace {

class DwarfFile {
 public:
  // Throws Error, which names the file.
  DwarfFile(const std::filesystem::path& program, const DebugFolders& folders,
            DebugBudgets& budgets);
  ~DwarfFile() { dwarf_end(dwarf_); }
  DwarfFile(const DwarfFile&) = delete;
  DwarfFile& operator=(const DwarfFile&) = delete;

  Dwarf* get() const { return dwarf_; }
  const std::filesystem::path& path() const { return file_.path(); }
  uint64_t size_bytes() const { return file_.size_bytes(); }
  const LineSections& sections() const { return sections_; }
  MemoryBudget& budget() { return budgets_.memory; }
  WorkBudget& work() { return budgets_.work; }

  // Whether a section of code has the address. Units still have the ranges of functions that the
  // linker has removed. These ranges begin at 0 and may overlap the code of other units.
  bool has_code(uint64_t address) const;

  static Error failure() { return Error(dwarf_errmsg(-1)); }

  // Calls visit(begin, end) for each range of addresses of the entry. Throws Error.
  template <class Visit>
  void visit_ranges(Dwarf_Die& entry, const Visit& visit) {
    if (has_too_many_ranges_ || !budgets_.work.spend(bytes_of_ranges(entry))) refuse_ranges();
    Dwarf_Addr base = 0, begin = 0, end = 0;
    ptrdiff_t at = 0;
    while ((at = dwarf_ranges(&entry, at, &base, &begin, &end)) > 0) {
      if (!budgets_.work.spend(kRangeWork)) refuse_ranges();
      if (begin < end) visit(begin, end);
    }
    if (at < 0) throw failure();
  }

  // Like dwarf_siblingof(), but limits the work. Without DW_AT_sibling, the library reads all
  // entries below `entry` to find the next sibling, again at each level. `furthest` is the last
  // entry that the caller has reached below `entry`.
  int next_sibling(Dwarf_Die& entry, const void* furthest);

  // The value of an attribute; 0 if the entry has none. Larger values count as ~uint32_t{0}.
  static uint32_t number_of(Dwarf_Die& entry, unsigned attribute);
  // Like number_of(), also for an attribute of the function of which the entry is an instance. 0 if
  // that function is in another unit, whose numbers of files differ.
  static uint32_t own_number_of(Dwarf_Die& entry, unsigned attribute);

  // The number of the function's name: its linkage name if it has one. 0: unknown.
  uint32_t name_of(Dwarf_Die& entry);
  std::string_view name_at(uint32_t number) const { return names_.at(number); }
  // The name and version of the compiler.
  std::string_view producer_of(Dwarf_Die& unit) { return texts_.of(unit, DW_AT_producer).text(); }
  std::string_view folder_of(Dwarf_Die& unit) { return texts_.of(unit, DW_AT_comp_dir).text(); }

 private:
  // A range in a list takes up to 16 bytes, and many functions may have the same list.
  static constexpr uint64_t kRangeWork = 16;

  // Even the search for the end of a list is work, so the following lists are refused, too.
  [[noreturn]] void refuse_ranges() {
    has_too_many_ranges_ = true;
    throw Error("its functions have too many ranges");
  }

  // The bytes of the list of ranges that the entry has.
  uint64_t bytes_of_ranges(Dwarf_Die& entry) const;
  void take_sections();
  void find_sections();
  void find_code();

  ElfFile file_;
  DebugBudgets& budgets_;
  Dwarf* dwarf_ = nullptr;
  LineSections sections_;
  RangeSections ranges_;
  bool has_too_many_ranges_ = false;
  struct Code {
    uint64_t begin = 0;
    uint64_t size_bytes = 0;
  };
  std::vector<Code> code_;  // sorted; sections that overlap count as one
  EntryTexts texts_;
  SharedTexts names_;
};

}  // namespace htmtrace
