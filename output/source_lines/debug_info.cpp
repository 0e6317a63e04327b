// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/source_lines/debug_info.h"

#include "core/base/error.h"

#ifdef HTMTRACE_HAVE_LIBDW

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include "core/base/budget.h"
#include "core/base/plain_text.h"
#include "output/source_lines/entry_texts.h"
#include "output/source_lines/line_program.h"
#include "output/source_lines/painted_ranges.h"
#include "output/source_lines/shared_texts.h"

namespace htmtrace {
namespace {

constexpr uint32_t kNone = ~uint32_t{0};
// A function or an inlined function.
struct Scope {
  uint32_t parent = kNone;  // the function into which it was inlined; kNone: it is not inlined
  uint32_t name = 0;
  uint32_t call_file = 0;
  uint32_t call_line = 0;
};

struct UnitRange {
  uint64_t begin = 0;
  uint64_t end = 0;
};

using Painted = PaintedRanges<uint32_t>::Range;

// One compilation unit. Read on its first use.
struct Unit {
  Dwarf_Off offset = 0;           // of its first entry
  std::vector<UnitRange> ranges;  // sorted, without overlaps
  bool is_read = false;
  std::string folder;  // of the compilation
  std::optional<LineProgram> lines;
  std::vector<Scope> scopes;
  std::vector<Painted> spans;                       // indexes of scopes
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

Error library_failure() {
  return Error(dwarf_errmsg(-1));
}

uint32_t number_of(Dwarf_Die& entry, unsigned attribute) {
  Dwarf_Attribute found;
  Dwarf_Word value = 0;
  if (dwarf_attr(&entry, attribute, &found) == nullptr || dwarf_formudata(&found, &value) != 0) {
    return 0;
  }
  return static_cast<uint32_t>(std::min<Dwarf_Word>(value, kNone));
}

}  // namespace

bool can_read_lines() {
  return true;
}

struct DebugInfo::Reader {
  Reader(const std::filesystem::path& program, const DebugFolders& folders)
      : file(open_debug_file(program, folders)), budget(file.size_bytes()) {
    try {
      take_sections();
      dwarf = dwarf_begin_elf(file.get(), DWARF_C_READ, nullptr);
      if (dwarf == nullptr) throw library_failure();
      find_sections();
      find_units();
    } catch (const Error& error) {
      dwarf_end(dwarf);
      throw error.about("cannot use the debug information of " + file.path().string());
    }
  }
  ~Reader() { dwarf_end(dwarf); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // The library holds all sections. They may overlap in the file, or be compressed, so that their
  // sum is far larger than the file.
  void take_sections() {
    visit_debug_sections(file.get(), [this](Elf_Scn* section, const GElf_Shdr& header,
                                            std::string_view name) {
      budget.take(header.sh_size);
      GElf_Chdr packed;
      if ((header.sh_flags & SHF_COMPRESSED) != 0 && gelf_getchdr(section, &packed) != nullptr) {
        budget.take(packed.ch_size);
        if (elf_compress(section, 0, 0) < 0) throw Error(elf_errmsg(-1));
      } else if (name.starts_with(".zdebug_")) {
        // The format before ELF had compressed sections: "ZLIB" and the size, most significant byte
        // first. GNU binutils, bfd/compress.c.
        const Elf_Data* const data = elf_rawdata(section, nullptr);
        if (data == nullptr || data->d_buf == nullptr || data->d_size < 12) return;
        ByteReader size({static_cast<const std::byte*>(data->d_buf) + 4, 8}, true);
        budget.take(size.number(8));
      }
    });
    work.add_input(file.size_bytes());
  }

  void find_sections() {
    GElf_Ehdr header;
    if (gelf_getehdr(file.get(), &header) == nullptr) throw Error(elf_errmsg(-1));
    sections.big_endian = header.e_ident[EI_DATA] == ELFDATA2MSB;
    visit_debug_sections(file.get(),
                         [this](Elf_Scn* section, const GElf_Shdr&, std::string_view name) {
                           name.remove_prefix(name.starts_with(".z") ? 2 : 1);
                           if (name == "debug_line") sections.line = bytes_of(section);
                           if (name == "debug_line_str") sections.line_str = bytes_of(section);
                           if (name == "debug_str") sections.str = bytes_of(section);
                         });
  }

  void find_units() {
    Dwarf_CU* unit = nullptr;
    Dwarf_Half version = 0;
    uint8_t type = 0;
    Dwarf_Die entry;
    while (true) {
      const int got = dwarf_get_units(dwarf, unit, &unit, &version, &type, &entry, nullptr);
      if (got > 0) break;
      // Units beyond a damaged one cannot be found.
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
    // Of several units with an address, the first one has it.
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
      budget.take(grown_bytes<UnitRange>() + PaintedRanges<uint32_t>::kRangeBytes);
      ranges.push_back({begin, end});
    };
    visit_ranges(entry, add);
    // Some compilers state ranges of functions only.
    if (ranges.empty() && !dwarf_hasattr(&entry, DW_AT_ranges) &&
        !dwarf_hasattr(&entry, DW_AT_low_pc)) {
      visit_functions(entry, add);
    }
    if (ranges.empty()) return;
    Unit unit;
    unit.offset = dwarf_dieoffset(&entry);
    unit.ranges = merged(std::move(ranges));
    budget.take(grown_bytes<Unit>());
    units.push_back(std::move(unit));
  }

  // Calls visit(begin, end) for each range of the entry. Throws Error.
  template <class Visit>
  void visit_ranges(Dwarf_Die& entry, const Visit& visit) {
    Dwarf_Addr base = 0, begin = 0, end = 0;
    ptrdiff_t at = 0;
    while ((at = dwarf_ranges(&entry, at, &base, &begin, &end)) > 0) {
      if (!work.spend(1)) throw Error("its functions have too many ranges");
      if (begin < end) visit(begin, end);
    }
    if (at < 0) throw library_failure();
  }

  template <class Visit>
  void visit_functions(Dwarf_Die& unit, const Visit& visit) {
    Dwarf_Die entry;
    int got = dwarf_child(&unit, &entry);
    for (; got == 0; got = next_sibling(entry)) {
      if (dwarf_tag(&entry) == DW_TAG_subprogram) visit_ranges(entry, visit);
    }
  }

  void note_damage(const std::string& reason) {
    if (damage.units++ == 0) damage.first = reason;
  }

  // As dwarf_siblingof(), but limits the work: without DW_AT_sibling, the library reads all entries
  // below this one to find the next one, again at each level.
  int next_sibling(Dwarf_Die& entry) {
    const auto* const from = static_cast<const char*>(entry.addr);
    const int got = dwarf_siblingof(&entry, &entry);
    if (got < 0) throw library_failure();
    const auto* const to = got == 0 ? static_cast<const char*>(entry.addr) : furthest;
    if (got == 0 && to <= from) throw Error("its entries form a loop");
    const uint64_t bytes = to > from ? static_cast<uint64_t>(to - from) : 1;
    if (!work.spend(bytes)) throw Error("its entries are nested too deep");
    return got;
  }

  void read(Unit& unit) {
    if (unit.is_read) return;
    unit.is_read = true;
    try {
      Dwarf_Die entry;
      if (dwarf_offdie(dwarf, unit.offset, &entry) == nullptr) throw library_failure();
      read_lines(entry, unit);
      read_scopes(entry, unit);
    } catch (const Error& error) {
      note_damage(error.what());
    }
  }

  void read_lines(Dwarf_Die& entry, Unit& unit) {
    unit.folder = texts.of(entry, DW_AT_comp_dir);
    Dwarf_Attribute found;
    Dwarf_Word offset = 0;
    if (dwarf_attr(&entry, DW_AT_stmt_list, &found) == nullptr ||
        dwarf_formudata(&found, &offset) != 0) {
      return;
    }
    try {
      unit.lines.emplace(
          sections, offset, [&unit](uint64_t address) { return unit.holds(address); }, budget);
    } catch (const Error& error) {
      note_damage(error.about("its table of lines").what());
    }
  }

  // Follows the entries without recursion, because the file decides how deep they are.
  void read_scopes(Dwarf_Die& unit_entry, Unit& unit) {
    struct Level {
      Dwarf_Die entry;
      uint32_t scope = kNone;  // of the entries of this level
    };
    // The entries of a split unit are in a file of their own, which the library finds.
    Dwarf_Die split;
    const bool is_split = dwarf_cu_info(unit_entry.cu, nullptr, nullptr, nullptr, &split, nullptr,
                                        nullptr, nullptr) == 0 &&
                          split.addr != nullptr;
    PaintedRanges<uint32_t> painted;
    std::vector<Level> levels(1);
    if (dwarf_child(is_split ? &split : &unit_entry, &levels.back().entry) != 0) return;
    while (!levels.empty()) {
      Dwarf_Die entry = levels.back().entry;
      uint32_t scope = levels.back().scope;
      const int tag = dwarf_tag(&entry);
      furthest = static_cast<const char*>(entry.addr);
      if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) {
        scope = add_scope(entry, tag, scope, unit, painted);
      }
      Dwarf_Die child;
      if (dwarf_haschildren(&entry) > 0 && dwarf_child(&entry, &child) == 0) {
        if (levels.size() == kMostLevels) throw Error("its entries are nested too deep");
        levels.push_back({.entry = child, .scope = scope});
        continue;
      }
      while (!levels.empty() && next_sibling(levels.back().entry) != 0) levels.pop_back();
    }
    unit.spans = painted.take();
    unit.scopes.shrink_to_fit();
  }

  // Returns the scope of the entries below. A function without code has no ranges, but functions
  // with code may be below.
  uint32_t add_scope(Dwarf_Die& entry, int tag, uint32_t parent, Unit& unit,
                     PaintedRanges<uint32_t>& painted) {
    const bool is_inlined = tag == DW_TAG_inlined_subroutine;
    Scope scope{.parent = is_inlined ? parent : kNone};
    const auto number = static_cast<uint32_t>(unit.scopes.size());
    bool has_code = false;
    visit_ranges(entry, [&](uint64_t begin, uint64_t end) {
      if (!unit.holds(begin)) return;  // the linker has removed the code
      budget.take(PaintedRanges<uint32_t>::kRangeBytes);
      painted.paint(begin, end, number);
      has_code = true;
    });
    if (!has_code && !is_inlined) return kNone;
    scope.name = names.number_of(function_name(entry), budget);
    if (is_inlined) {
      scope.call_file = number_of(entry, DW_AT_call_file);
      scope.call_line = number_of(entry, DW_AT_call_line);
    }
    budget.take(grown_bytes<Scope>());
    unit.scopes.push_back(scope);
    return number;
  }

  std::string_view function_name(Dwarf_Die& entry) {
    for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name}) {
      const std::string_view text = texts.of(entry, name);
      if (!text.empty()) return text;
    }
    return {};
  }

  std::string_view path_of(Unit& unit, uint32_t number) {
    const auto known = unit.paths.find(number);
    if (known != unit.paths.end()) return known->second;
    std::string path = unit.lines->path_of(number, unit.folder);
    if (path.size() > kMostNameBytes) path.resize(kMostNameBytes);
    budget.take(path.size() + 3 * kHeapBytes);
    return unit.paths.emplace(number, has_controls(path) ? without_controls(path) : path)
        .first->second;
  }

  // Limits `span` to the range of `found` around the address.
  static void limit(Span& span, uint64_t begin, uint64_t end) {
    span.begin = std::max(span.begin, begin);
    span.end = std::min(span.end, end);
  }

  Span find(uint64_t address, std::vector<SourceFrame>& frames) {
    frames.clear();
    Span span{.begin = address, .end = address + 1};
    const auto after = std::ranges::upper_bound(index, address, {}, &Painted::begin);
    if (after == index.begin() || address >= std::prev(after)->end) return span;
    const auto& of_unit = *std::prev(after);
    Unit& unit = units[of_unit.value];
    read(unit);
    span = {.begin = of_unit.begin, .end = of_unit.end};
    SourceFrame frame;
    if (unit.lines) {
      const LineProgram::Found found = unit.lines->find(address);
      if (found.row == nullptr) {
        span = {.begin = address, .end = address + 1};
      } else {
        limit(span, found.row->address, found.end);
        frame.file = path_of(unit, found.row->file);
        if (!frame.file.empty()) frame.line = found.row->line;
      }
    }
    uint32_t scope = kNone;
    const auto next = std::ranges::upper_bound(unit.spans, address, {}, &Painted::begin);
    if (next != unit.spans.end()) span.end = std::min(span.end, next->begin);
    if (next != unit.spans.begin()) {
      const auto& of_scope = *std::prev(next);
      if (address < of_scope.end) {
        scope = of_scope.value;
        limit(span, of_scope.begin, of_scope.end);
      } else {
        span.begin = std::max(span.begin, of_scope.end);
      }
    }
    while (scope != kNone) {
      const Scope& found = unit.scopes[scope];
      frame.function = names.at(found.name);
      frames.push_back(frame);
      frame = {};
      if (found.parent != kNone && unit.lines) {
        frame.file = path_of(unit, found.call_file);
        frame.line = found.call_line;
      }
      scope = found.parent;
    }
    if (frames.empty() && !frame.file.empty()) frames.push_back(frame);
    return span;
  }

  // Deeper entries are no program.
  static constexpr size_t kMostLevels = 10'000;

  ElfFile file;
  MemoryBudget budget;
  WorkBudget work;
  Dwarf* dwarf = nullptr;
  LineSections sections;
  std::deque<Unit> units;
  std::vector<Painted> index;  // of units
  EntryTexts texts;
  SharedTexts names;
  const char* furthest = nullptr;  // the last entry that read_scopes() has reached
  Damage damage;
};

DebugInfo::DebugInfo(const std::filesystem::path& program, const DebugFolders& folders)
    : reader_(std::make_unique<Reader>(program, folders)) {}

DebugInfo::~DebugInfo() = default;

DebugInfo::Span DebugInfo::find(uint64_t address, std::vector<SourceFrame>& frames) {
  try {
    return reader_->find(address, frames);
  } catch (const Error& error) {  // the paths of its files would take too much memory
    reader_->note_damage(error.what());
    frames.clear();
    return {.begin = address, .end = address + 1};
  }
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

DebugInfo::DebugInfo(const std::filesystem::path& program, const DebugFolders&) {
  throw Error("cannot find the source lines of " + program.string() +
              ": htmtrace was built without libdw");
}

DebugInfo::~DebugInfo() = default;

DebugInfo::Span DebugInfo::find(uint64_t, std::vector<SourceFrame>&) {
  return {};
}

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
