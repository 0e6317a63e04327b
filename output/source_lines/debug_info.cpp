// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/source_lines/debug_info.h"

#include "core/base/error.h"

#ifdef HTMTRACE_HAVE_LIBDW

#include <algorithm>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>

#include "core/base/budget.h"
#include "core/base/plain_text.h"
#include "core/base/system_failure.h"
#include "output/source_lines/dwarf_file.h"
#include "output/source_lines/line_program.h"
#include "output/source_lines/painted_ranges.h"
#include "output/source_lines/shared_texts.h"
#include "output/source_lines/unit_functions.h"

namespace htmtrace {
namespace {

struct UnitRange {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// One compilation unit, which is read on its first use.
struct Unit {
  Dwarf_Off offset = 0;           // of its first entry
  std::vector<UnitRange> ranges;  // sorted, without overlaps
  bool is_read = false;
  std::string folder;  // of the compilation
  std::optional<LineProgram> lines;
  UnitFunctions functions;
  std::unordered_map<uint32_t, std::string> paths;  // of the files of `lines`

  bool holds(uint64_t address) const {
    const auto after = std::ranges::upper_bound(ranges, address, {}, &UnitRange::begin);
    return after != ranges.begin() && address < std::prev(after)->end;
  }
};

std::vector<UnitRange> merged(std::vector<UnitRange> ranges) {
  std::ranges::sort(ranges, {}, &UnitRange::begin);
  std::vector<UnitRange> result;
  for (const UnitRange& range : ranges) {
    if (result.empty() || range.begin > result.back().end) {
      result.push_back(range);
    } else {
      result.back().end = std::max(result.back().end, range.end);
    }
  }
  return result;
}

}  // namespace

bool can_read_lines() {
  return true;
}

struct DebugInfo::Reader {
  Reader(const std::filesystem::path& program, const DebugFolders& folders, DebugBudgets& budgets)
      : file(program, folders, budgets) {
    try {
      find_units();
    } catch (const Error& error) {
      throw error.about("cannot use the debug information of " + file.path().string());
    }
  }

  void find_units() {
    Dwarf_CU* unit = nullptr;
    Dwarf_Half version = 0;
    uint8_t type = 0;
    Dwarf_Die entry;
    while (true) {
      const int got = dwarf_get_units(file.get(), unit, &unit, &version, &type, &entry, nullptr);
      if (got > 0) break;
      // libdw cannot find the units beyond a damaged unit.
      if (got < 0) {
        note_damage(dwarf_errmsg(-1));
        break;
      }
      if (type != DW_UT_compile && type != DW_UT_skeleton) continue;
      const int tag = dwarf_tag(&entry);
      if (tag == DW_TAG_partial_unit) continue;
      try {
        if (tag == DW_TAG_invalid) throw Error("the first entry of a unit is damaged");
        add_unit(entry);
      } catch (const Error& error) {
        note_damage(error.what());
      }
    }
    // If several units have an address, the address belongs to the first unit.
    PaintedRanges<uint32_t> painted;
    for (size_t i = units.size(); i-- > 0;) {
      for (const UnitRange& range : units[i].ranges) {
        painted.paint(range.begin, range.end, static_cast<uint32_t>(i));
      }
    }
    index = painted.take();
  }

  void add_unit(Dwarf_Die& entry) {
    std::vector<UnitRange> ranges;
    const auto add = [&](uint64_t begin, uint64_t end) {
      if (!file.has_code(begin)) return;
      file.budget().take(grown_bytes<UnitRange>() + PaintedRanges<uint32_t>::kRangeBytes);
      ranges.push_back({begin, end});
    };
    file.visit_ranges(entry, add);
    // Some compilers state only the ranges of functions.
    if (ranges.empty() && !dwarf_hasattr(&entry, DW_AT_ranges) &&
        !dwarf_hasattr(&entry, DW_AT_low_pc)) {
      visit_functions(entry, add);
    }
    if (ranges.empty()) return;
    Unit unit;
    unit.offset = dwarf_dieoffset(&entry);
    unit.ranges = merged(std::move(ranges));
    file.budget().take(grown_bytes<Unit>());
    units.push_back(std::move(unit));
  }

  template <class Visit>
  void visit_functions(Dwarf_Die& unit, const Visit& visit) {
    Dwarf_Die entry;
    int got = dwarf_child(&unit, &entry);
    for (; got == 0; got = file.next_sibling(entry, nullptr)) {
      if (dwarf_tag(&entry) == DW_TAG_subprogram) file.visit_ranges(entry, visit);
    }
  }

  void note_damage(const std::string& reason) {
    if (damage.units++ == 0) damage.first = reason;
  }

  void read(Unit& unit) {
    if (unit.is_read) return;
    unit.is_read = true;
    try {
      Dwarf_Die entry;
      if (dwarf_offdie(file.get(), unit.offset, &entry) == nullptr) throw DwarfFile::failure();
      read_lines(entry, unit, file.budget(), LineProgram::Keep::kChanges);
      unit.functions.read(file, entry, [&unit](uint64_t address) { return unit.holds(address); });
    } catch (const Error& error) {
      note_damage(error.what());
    }
  }

  void read_lines(Dwarf_Die& entry, Unit& unit, MemoryBudget& budget, LineProgram::Keep keep) {
    unit.folder = file.folder_of(entry);
    Dwarf_Attribute found;
    Dwarf_Word offset = 0;
    if (dwarf_attr(&entry, DW_AT_stmt_list, &found) == nullptr ||
        dwarf_formudata(&found, &offset) != 0) {
      return;
    }
    try {
      unit.lines.emplace(
          file.sections(), offset, [&unit](uint64_t address) { return unit.holds(address); },
          budget, file.work(), keep);
    } catch (const Error& error) {
      note_damage(error.about("its table of lines").what());
    }
  }

  std::string_view path_of(Unit& unit, uint32_t number, MemoryBudget& budget) {
    const auto known = unit.paths.find(number);
    if (known != unit.paths.end()) return known->second;
    std::string path = unit.lines->path_of(number, unit.folder);
    budget.take(path.size() + 3 * kNodeBytes);
    return unit.paths.emplace(number, has_controls(path) ? without_controls(path) : path)
        .first->second;
  }

  // Limits `span` to the range of `found` around the address.
  static void limit(Span& span, uint64_t begin, uint64_t end) {
    span.begin = std::max(span.begin, begin);
    span.end = std::min(span.end, end);
  }

  // Returns the unit that has an address, or null. Sets `span` to the addresses around it with the
  // same result.
  Unit* unit_at(uint64_t address, Span& span) {
    const auto after = std::ranges::upper_bound(index, address, {}, &IndexRange::begin);
    const uint64_t next = after == index.end() ? ~uint64_t{0} : after->begin;
    if (after == index.begin()) {
      span = {.begin = 0, .end = next};
      return nullptr;
    }
    const IndexRange& before = *std::prev(after);
    if (address >= before.end) {
      span = {.begin = before.end, .end = next};
      return nullptr;
    }
    span = {.begin = before.begin, .end = before.end};
    Unit& unit = units[before.value];
    read(unit);
    return &unit;
  }

  Span find_inlined(uint64_t address, std::vector<std::string_view>& names) {
    names.clear();
    Span span;
    const Unit* const unit = unit_at(address, span);
    if (unit == nullptr) return span;
    const UnitFunctions::Found innermost = unit->functions.find(address);
    limit(span, innermost.begin, innermost.end);
    for (uint32_t number = innermost.function; number != UnitFunctions::kNone;) {
      const UnitFunctions::Function& function = unit->functions.at(number);
      number = function.parent;
      if (number != UnitFunctions::kNone) names.push_back(file.name_at(function.name));
    }
    std::ranges::reverse(names);
    size_t bytes = 0, count = 0;
    while (count < std::min(names.size(), kMostInlined) &&
           (bytes += names[count].size()) <= kMostInlinedBytes) {
      count++;
    }
    names.resize(count);
    return span;
  }

  Span find(uint64_t address, std::vector<SourceFrame>& frames) {
    frames.clear();
    Span span;
    Unit* const found_unit = unit_at(address, span);
    if (found_unit == nullptr) return span;
    Unit& unit = *found_unit;
    SourceFrame frame;
    if (unit.lines) {
      const LineProgram::Found found = unit.lines->find(address);
      if (found.row == nullptr) {
        span = {.begin = address, .end = address + 1};
      } else {
        limit(span, found.row->address, found.end);
        frame.file = path_of(unit, found.row->file, file.budget());
        if (!frame.file.empty()) frame.line = found.row->line;
      }
    }
    const UnitFunctions::Found innermost = unit.functions.find(address);
    limit(span, innermost.begin, innermost.end);
    size_t bytes = 0;
    for (uint32_t number = innermost.function;
         number != UnitFunctions::kNone && bytes <= kMostFrameBytes;) {
      const UnitFunctions::Function& function = unit.functions.at(number);
      frame.function = file.name_at(function.name);
      bytes += sizeof(SourceFrame) + frame.function.size() + frame.file.size();
      frames.push_back(frame);
      frame = {};
      if (function.parent != UnitFunctions::kNone && unit.lines) {
        frame.file = path_of(unit, function.call_file, file.budget());
        frame.line = function.call_line;
      }
      number = function.parent;
    }
    if (frames.empty() && !frame.file.empty()) frames.push_back(frame);
    return span;
  }

  void visit(const SourceVisitor& visitor) {
    for (const Unit& known : units) {
      Unit unit;
      unit.offset = known.offset;
      unit.ranges = known.ranges;
      try {
        visit(unit, visitor);
      } catch (const Error& error) {
        note_damage(error.what());
      }
      try {
        visitor.end_unit();
      } catch (const Error& error) {
        note_damage(error.what());
      }
    }
  }

  // `unit` is a copy that nothing keeps, so its lines have a budget of their own.
  void visit(Unit& unit, const SourceVisitor& visitor) {
    Dwarf_Die entry;
    if (dwarf_offdie(file.get(), unit.offset, &entry) == nullptr) throw DwarfFile::failure();
    MemoryBudget budget(file.size_bytes());
    read_lines(entry, unit, budget, LineProgram::Keep::kAll);
    if (!unit.lines) return;
    visitor.begin_unit(marks_statements(file.producer_of(entry)));
    std::vector<UnitFunctions::Begin> begins;
    try {
      unit.functions.read(
          file, entry, [&unit](uint64_t address) { return unit.holds(address); }, &begins);
    } catch (const Error& error) {
      note_damage(error.what());
    }
    for (const UnitFunctions::Begin& begin : begins) {
      const UnitFunctions::Function& function = unit.functions.at(begin.function);
      visitor.function(
          {.name = file.name_at(function.name),
           .file = begin.line == 0 ? std::string_view() : path_of(unit, begin.file, budget),
           .line = begin.line,
           .address = begin.address,
           .end = begin.end,
           .is_inlined = begin.is_inlined});
    }
    unit.lines->visit([&](const LineProgram::Row& row, uint64_t end) {
      visitor.row({.begin = row.address,
                   .end = end,
                   .file = path_of(unit, row.file, budget),
                   .line = row.line,
                   .column = row.column,
                   .function = function_of(unit.functions, row),
                   .is_statement = row.is_statement});
    });
  }

  // GCC states its options in its name (-grecord-gcc-switches); the last -O applies.
  static bool marks_statements(std::string_view producer) {
    const size_t level = producer.rfind(" -O");
    return producer.starts_with("GNU ") && level != std::string_view::npos &&
           !producer.substr(level).starts_with(" -O0");
  }

  // The function whose source has the row. At the first instruction of an inlined function, the
  // call can have a row of its own, which belongs to the caller.
  static uint32_t function_of(const UnitFunctions& functions, const LineProgram::Row& row) {
    uint32_t number = functions.find(row.address).function;
    while (number != UnitFunctions::kNone) {
      const UnitFunctions::Function& function = functions.at(number);
      if (function.call_line != row.line || function.call_file != row.file) break;
      number = function.parent;
    }
    return number;
  }

  using IndexRange = PaintedRanges<uint32_t>::Range;

  DwarfFile file;
  std::deque<Unit> units;
  std::vector<IndexRange> index;  // of units
  Damage damage;
};

DebugInfo::DebugInfo(const std::filesystem::path& program, const DebugFolders& folders,
                     DebugBudgets& budgets) {
  check_system(program, [&] { reader_ = std::make_unique<Reader>(program, folders, budgets); });
}

DebugInfo::~DebugInfo() = default;

DebugInfo::Span DebugInfo::find(uint64_t address, std::vector<SourceFrame>& frames) {
  Span span{.begin = address, .end = address + 1};
  check_system(path(), [&] {
    try {
      span = reader_->find(address, frames);
    } catch (const Error& error) {  // the paths of its files would take too much memory
      reader_->note_damage(error.what());
      frames.clear();
    }
  });
  return span;
}

DebugInfo::Span DebugInfo::find_inlined(uint64_t address, std::vector<std::string_view>& names) {
  Span span;
  check_system(path(), [&] { span = reader_->find_inlined(address, names); });
  return span;
}

void DebugInfo::visit(const SourceVisitor& visitor) {
  check_system(path(), [&] { reader_->visit(visitor); });
}

const DebugInfo::Damage& DebugInfo::damage() const {
  return reader_->damage;
}

const std::filesystem::path& DebugInfo::path() const {
  return reader_->file.path();
}

}  // namespace htmtrace

#else

namespace htmtrace {

bool can_read_lines() {
  return false;
}

struct DebugInfo::Reader {};

DebugInfo::DebugInfo(const std::filesystem::path& program, const DebugFolders&, DebugBudgets&) {
  throw Error("cannot find the source lines of " + program.string() +
              ": htmtrace was built without libdw");
}

DebugInfo::~DebugInfo() = default;

DebugInfo::Span DebugInfo::find(uint64_t, std::vector<SourceFrame>&) {
  return {};
}

DebugInfo::Span DebugInfo::find_inlined(uint64_t, std::vector<std::string_view>&) {
  return {};
}

void DebugInfo::visit(const SourceVisitor&) {}

const DebugInfo::Damage& DebugInfo::damage() const {
  static const Damage none;
  return none;
}

const std::filesystem::path& DebugInfo::path() const {
  static const std::filesystem::path none;
  return none;
}

}  // namespace htmtrace

#endif
