// SPDX-License-Identifier: GPL-2.0-or-later
#ifdef HTMTRACE_HAVE_LIBDW

#include "output/source_lines/dwarf_file.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <string_view>

#include "output/source_lines/abbreviations.h"
#include "output/source_lines/byte_reader.h"

namespace htmtrace {
namespace {

// The type of the handler has the attribute of GCC.
[[gnu::noreturn]] void throw_no_memory() {
  throw std::bad_alloc();
}

}  // namespace

DwarfFile::DwarfFile(const std::filesystem::path& program, const DebugFolders& folders,
                     DebugBudgets& budgets)
    : file_(open_debug_file(program, folders)), budgets_(budgets) {
  budgets_.memory.add_input(file_.size_bytes());
  budgets_.work.add_input(file_.size_bytes());
  try {
    take_sections();
    dwarf_ = dwarf_begin_elf(file_.get(), DWARF_C_READ, nullptr);
    if (dwarf_ == nullptr) throw failure();
    // Without this handler, the library ends the program. The exception of the handler passes
    // through functions of the library: the ABIs of x86-64 and POWER require their unwind tables.
    dwarf_new_oom_handler(dwarf_, throw_no_memory);
    find_sections();
    find_code();
  } catch (const Error& error) {
    dwarf_end(dwarf_);
    throw error.about("cannot use the debug information of " + path().string());
  }
}

// The library holds all sections. They may overlap in the file, or be compressed, so that their sum
// is far larger than the file.
void DwarfFile::take_sections() {
  visit_debug_sections(
      file_.get(), [this](Elf_Scn* section, const GElf_Shdr& header, std::string_view name) {
        budgets_.memory.take(header.sh_size);
        GElf_Chdr packed;
        if ((header.sh_flags & SHF_COMPRESSED) != 0 && gelf_getchdr(section, &packed) != nullptr) {
          budgets_.memory.take(packed.ch_size);
          if (elf_compress(section, 0, 0) < 0) throw Error(elf_errmsg(-1));
        } else if (name.starts_with(".zdebug_")) {
          // The format before ELF had compressed sections: "ZLIB" and the size, most significant
          // byte first. GNU binutils, bfd/compress.c.
          const Elf_Data* const data = elf_rawdata(section, nullptr);
          if (data == nullptr || data->d_buf == nullptr || data->d_size < 12) return;
          ByteReader size({static_cast<const std::byte*>(data->d_buf) + 4, 8}, true);
          budgets_.memory.take(size.number(8));
        }
      });
}

void DwarfFile::find_sections() {
  GElf_Ehdr header;
  if (gelf_getehdr(file_.get(), &header) == nullptr) throw Error(elf_errmsg(-1));
  sections_.big_endian = header.e_ident[EI_DATA] == ELFDATA2MSB;
  EntrySections entries;
  entries.big_endian = ranges_.big_endian = sections_.big_endian;
  visit_debug_sections(file_.get(), [&](Elf_Scn* section, const GElf_Shdr&, std::string_view name) {
    name.remove_prefix(name.starts_with(".z") ? 2 : 1);
    if (name == "debug_line") sections_.line = bytes_of(section);
    if (name == "debug_line_str") sections_.line_str = bytes_of(section);
    if (name == "debug_str") sections_.str = bytes_of(section);
    if (name == "debug_ranges") ranges_.ranges = bytes_of(section);
    if (name == "debug_rnglists") ranges_.rnglists = bytes_of(section);
    if (name == "debug_info") entries.info = bytes_of(section);
    if (name == "debug_types") entries.types = bytes_of(section);
    if (name == "debug_abbrev") entries.abbreviations = bytes_of(section);
  });
  check_abbreviations(entries, budgets_.memory, budgets_.work);
}

void DwarfFile::find_code() {
  std::vector<Code> sections;
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(file_.get(), section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) throw Error(elf_errmsg(-1));
    if ((header.sh_flags & SHF_EXECINSTR) == 0 || header.sh_size == 0) continue;
    budgets_.memory.take(2 * grown_bytes<Code>());
    sections.push_back({header.sh_addr, header.sh_size});
  }
  std::ranges::sort(sections, {}, &Code::begin);
  for (const Code& next : sections) {
    if (code_.empty() || next.begin - code_.back().begin > code_.back().size_bytes) {
      code_.push_back(next);
    } else {
      code_.back().size_bytes =
          std::max(code_.back().size_bytes, next.begin - code_.back().begin + next.size_bytes);
    }
  }
}

bool DwarfFile::has_code(uint64_t address) const {
  const auto after = std::ranges::upper_bound(code_, address, {}, &Code::begin);
  if (after == code_.begin()) return false;
  const Code& code = *std::prev(after);
  return address - code.begin < code.size_bytes;
}

uint64_t DwarfFile::bytes_of_ranges(Dwarf_Die& entry) const {
  Dwarf_Attribute found;
  Dwarf_Word value = 0;
  if (dwarf_attr(&entry, DW_AT_ranges, &found) == nullptr || dwarf_formudata(&found, &value) != 0) {
    return 0;
  }
  Dwarf_Half version = 0;
  Dwarf_Die unit;
  uint8_t address_bytes = 0, offset_bytes = 0;
  if (dwarf_cu_die(entry.cu, &unit, &version, nullptr, &address_bytes, &offset_bytes, nullptr,
                   nullptr) == nullptr) {
    return 0;
  }
  if (dwarf_whatform(&found) == DW_FORM_rnglistx) {
    // Without the attribute, the table follows its header (DWARF 5, 7.28).
    const uint64_t header_bytes = offset_bytes == 8 ? 20 : 12;
    const uint32_t base = number_of(unit, DW_AT_rnglists_base);
    value = list_offset(ranges_, base == 0 ? header_bytes : base, value, offset_bytes);
  }
  return list_bytes(ranges_, version, address_bytes, value);
}

int DwarfFile::next_sibling(Dwarf_Die& entry, const void* furthest) {
  const auto* const from = static_cast<const char*>(entry.addr);
  const int got = dwarf_siblingof(&entry, &entry);
  if (got < 0) throw failure();
  const auto* const to = static_cast<const char*>(got == 0 ? entry.addr : furthest);
  if (got == 0 && to <= from) throw Error("its entries form a loop");
  const uint64_t bytes = to > from ? static_cast<uint64_t>(to - from) : 1;
  if (!budgets_.work.spend(bytes)) throw Error("its entries are nested too deep");
  return got;
}

uint32_t DwarfFile::number_of(Dwarf_Die& entry, unsigned attribute) {
  Dwarf_Attribute found;
  Dwarf_Word value = 0;
  if (dwarf_attr(&entry, attribute, &found) == nullptr || dwarf_formudata(&found, &value) != 0) {
    return 0;
  }
  return static_cast<uint32_t>(std::min<Dwarf_Word>(value, ~uint32_t{0}));
}

uint32_t DwarfFile::own_number_of(Dwarf_Die& entry, unsigned attribute) {
  Dwarf_Attribute found;
  Dwarf_Word value = 0;
  if (dwarf_attr_integrate(&entry, attribute, &found) == nullptr || found.cu != entry.cu ||
      dwarf_formudata(&found, &value) != 0) {
    return 0;
  }
  return static_cast<uint32_t>(std::min<Dwarf_Word>(value, ~uint32_t{0}));
}

uint32_t DwarfFile::name_of(Dwarf_Die& entry) {
  for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name}) {
    const uint32_t number = names_.number_of(texts_.of(entry, name), budgets_.memory);
    if (number != 0) return number;
  }
  return 0;
}

}  // namespace htmtrace

#endif
