// SPDX-License-Identifier: GPL-2.0-or-later
#ifdef HTMTRACE_HAVE_LIBDW

#include "output/source_lines/unit_functions.h"

#include <algorithm>
#include <iterator>

namespace htmtrace {

class UnitFunctions::Reading {
 public:
  Reading(DwarfFile& file, const std::function<bool(uint64_t)>& is_code,
          std::vector<Function>& functions, std::vector<Begin>* begins)
      : file_(file), is_code_(is_code), functions_(functions), begins_(begins) {}

  // Follows the entries without recursion, because a file can nest them to any depth.
  std::vector<Range> read(Dwarf_Die& unit) {
    // The entries of a split unit are in a file of their own, which the library finds.
    Dwarf_Die split;
    const bool is_split =
        dwarf_cu_info(unit.cu, nullptr, nullptr, nullptr, &split, nullptr, nullptr, nullptr) == 0 &&
        split.addr != nullptr;
    std::vector<Level> levels(1);
    if (dwarf_child(is_split ? &split : &unit, &levels.back().entry) != 0) return {};
    while (!levels.empty()) {
      Dwarf_Die entry = levels.back().entry;
      uint32_t function = levels.back().function;
      const int tag = dwarf_tag(&entry);
      const void* const furthest = entry.addr;
      if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) {
        function = add(entry, tag, function);
      }
      Dwarf_Die child;
      if (dwarf_haschildren(&entry) > 0 && dwarf_child(&entry, &child) == 0) {
        if (levels.size() == kMostLevels) throw Error("its entries are nested too deep");
        levels.push_back({.entry = child, .function = function});
        continue;
      }
      while (!levels.empty() && file_.next_sibling(levels.back().entry, furthest) != 0) {
        levels.pop_back();
      }
    }
    return painted_.take();
  }

 private:
  struct Level {
    Dwarf_Die entry;
    uint32_t function = kNone;  // that has the entries of this level
  };
  // No compiler nests entries deeper.
  static constexpr size_t kMostLevels = 10'000;

  // Returns the function of the entries below. A function without code has no ranges, but functions
  // with code may be below.
  uint32_t add(Dwarf_Die& entry, int tag, uint32_t parent) {
    const bool is_inlined = tag == DW_TAG_inlined_subroutine;
    Function function{.parent = is_inlined ? parent : kNone};
    const auto number = static_cast<uint32_t>(functions_.size());
    bool has_code = false;
    Dwarf_Addr first = 0;
    bool knows_first = begins_ != nullptr && dwarf_entrypc(&entry, &first) == 0;
    Begin place{.function = number, .is_inlined = is_inlined};
    file_.visit_ranges(entry, [&](uint64_t begin, uint64_t end) {
      if (!is_code_(begin)) return;  // the linker has removed the code
      file_.budget().take(PaintedRanges<uint32_t>::kRangeBytes);
      painted_.paint(begin, end, number);
      has_code = true;
      if (!knows_first) first = begin;
      knows_first = true;
      if (first - begin < end - begin) place.end = end;
    });
    if (!has_code && !is_inlined) return kNone;
    function.name = file_.name_of(entry);
    if (is_inlined) {
      function.call_file = DwarfFile::number_of(entry, DW_AT_call_file);
      function.call_line = DwarfFile::number_of(entry, DW_AT_call_line);
    }
    file_.budget().take(grown_bytes<Function>());
    functions_.push_back(function);
    if (begins_ != nullptr && has_code) {
      place.address = first;
      place.file = DwarfFile::own_number_of(entry, DW_AT_decl_file);
      place.line = DwarfFile::own_number_of(entry, DW_AT_decl_line);
      file_.budget().take(grown_bytes<Begin>());
      begins_->push_back(place);
    }
    return number;
  }

  DwarfFile& file_;
  const std::function<bool(uint64_t)>& is_code_;
  std::vector<Function>& functions_;
  std::vector<Begin>* begins_;
  PaintedRanges<uint32_t> painted_;
};

void UnitFunctions::read(DwarfFile& file, Dwarf_Die& unit,
                         const std::function<bool(uint64_t)>& is_code, std::vector<Begin>* begins) {
  ranges_ = Reading(file, is_code, functions_, begins).read(unit);
  functions_.shrink_to_fit();
}

UnitFunctions::Found UnitFunctions::find(uint64_t address) const {
  Found found{.begin = 0, .end = ~uint64_t{0}};
  const auto next = std::ranges::upper_bound(ranges_, address, {}, &Range::begin);
  if (next != ranges_.end()) found.end = next->begin;
  if (next == ranges_.begin()) return found;
  const Range& range = *std::prev(next);
  if (address >= range.end) {
    found.begin = range.end;
    return found;
  }
  return {.function = range.value, .begin = range.begin, .end = range.end};
}

}  // namespace htmtrace

#endif
