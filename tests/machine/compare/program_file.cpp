// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/machine/compare/program_file.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace htmtrace::compare {
namespace {

template <class T>
T take(const std::string& file, uint64_t offset) {
  T value;
  if (offset + sizeof(T) > file.size()) throw std::runtime_error("the ELF file is cut off");
  std::memcpy(&value, file.data() + offset, sizeof(T));
  return value;
}

// Returns whether the name is a label of the linker, which names no bytes.
bool is_label(const std::string& name) {
  static const std::set<std::string> labels = {
      ".TOC.", "_GLOBAL_OFFSET_TABLE_", "__bss_start", "_edata", "_end", "edata",
      "end",   "__data_start",          "data_start",  "_etext", "etext"};
  return labels.contains(name);
}

}  // namespace

ProgramFile::ProgramFile(const std::string& path) : name_(path.substr(path.rfind('/') + 1)) {
  std::ifstream stream(path, std::ios::binary);
  const std::string file((std::istreambuf_iterator<char>(stream)), {});
  const auto header = take<Elf64_Ehdr>(file, 0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    throw std::runtime_error(path + " is not a little-endian ELF file");
  }
  std::vector<Elf64_Shdr> headers;
  for (unsigned i = 0; i < header.e_shnum; i++) {
    headers.push_back(take<Elf64_Shdr>(file, header.e_shoff + uint64_t{i} * sizeof(Elf64_Shdr)));
    const Elf64_Shdr& section = headers.back();
    const bool code = (section.sh_flags & SHF_EXECINSTR) != 0;
    const bool loaded = (section.sh_flags & SHF_ALLOC) != 0 && (section.sh_flags & SHF_TLS) == 0;
    sections_.push_back(
        {loaded ? section.sh_addr : 0, loaded ? section.sh_addr + section.sh_size : 0, code,
         code && section.sh_type == SHT_PROGBITS ? file.substr(section.sh_offset, section.sh_size)
                                                 : ""});
  }
  for (const Elf64_Shdr& table : headers) {
    if (table.sh_type != SHT_SYMTAB) continue;
    for (uint64_t i = 0; i < table.sh_size / sizeof(Elf64_Sym); i++) {
      const auto symbol = take<Elf64_Sym>(file, table.sh_offset + i * sizeof(Elf64_Sym));
      const unsigned type = ELF64_ST_TYPE(symbol.st_info);
      if (type == STT_SECTION || type == STT_FILE || type == STT_TLS) continue;
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= headers.size()) continue;
      const std::string name = file.data() + headers[table.sh_link].sh_offset + symbol.st_name;
      if (name.empty() || (symbol.st_size == 0 && is_label(name))) continue;
      // Labels of the linker at the end of a section belong to no section.
      const Section& section = sections_[symbol.st_shndx];
      if (symbol.st_value < section.address || symbol.st_value >= section.end) continue;
      symbols_.push_back({symbol.st_value, symbol.st_size, symbol.st_shndx, name});
    }
  }
}

bool ProgramFile::in_code(uint64_t address) const {
  return std::any_of(sections_.begin(), sections_.end(), [&](const Section& section) {
    return section.code && address >= section.address && address < section.end;
  });
}

bool ProgramFile::has_word(uint64_t address, uint32_t word) const {
  for (const Section& section : sections_) {
    if (address < section.address || address - section.address + 4 > section.bytes.size()) continue;
    uint32_t there;
    std::memcpy(&there, section.bytes.data() + (address - section.address), sizeof(there));
    return there == word;
  }
  return false;
}

const ProgramFile::Name& ProgramFile::name_of(uint64_t address) const {
  const auto [place, added] = known_.try_emplace(address);
  if (added) place->second = look_up(address);
  return place->second;
}

ProgramFile::Name ProgramFile::look_up(uint64_t address) const {
  const Symbol* best = nullptr;
  for (const Symbol& symbol : symbols_) {
    if (symbol.size == 0 || address < symbol.address || address - symbol.address >= symbol.size) {
      continue;
    }
    if (best == nullptr || symbol.address > best->address ||
        (symbol.address == best->address && symbol.size < best->size)) {
      best = &symbol;
    }
  }
  const bool sized = best != nullptr;
  if (!sized) {
    // The nearest preceding symbol, if it has no size and is in the same section.
    for (const Symbol& symbol : symbols_) {
      if (symbol.address > address) continue;
      if (best == nullptr || symbol.address > best->address ||
          (symbol.address == best->address && symbol.size > best->size)) {
        best = &symbol;
      }
    }
    if (best == nullptr || best->size != 0 || address >= sections_[best->section].end) return {};
  }
  std::set<std::string> names;
  for (const Symbol& symbol : symbols_) {
    if (symbol.address == best->address && symbol.size == best->size) names.insert(symbol.name);
  }
  Name name{.text = {}, .begin = best->address, .sized = sized};
  for (const std::string& text : names) name.text += (name.text.empty() ? "" : "|") + text;
  return name;
}

}  // namespace htmtrace::compare
