// SPDX-License-Identifier: GPL-2.0-or-later
// Sections and texts of files that libdw has open. Only files that wrap libdw include this header.
#pragma once

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <libelf.h>

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "output/source_lines/shared_texts.h"

namespace htmtrace {

inline bool is_debug_section(std::string_view name) {
  return name.starts_with(".debug_") || name.starts_with(".zdebug_");
}

// Calls visit(section, header, name) for each section with debug information.
template <class Visit>
void visit_debug_sections(Elf* elf, const Visit& visit) {
  size_t texts = 0;
  if (elf_getshdrstrndx(elf, &texts) != 0) throw Error(elf_errmsg(-1));
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf, section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS) continue;
    const char* const name = elf_strptr(elf, texts, header.sh_name);
    if (name != nullptr && is_debug_section(name)) visit(section, header, std::string_view(name));
  }
}

inline std::span<const std::byte> bytes_of(Elf_Scn* section) {
  const Elf_Data* const data = elf_rawdata(section, nullptr);
  if (data == nullptr || data->d_buf == nullptr) return {};
  return {static_cast<const std::byte*>(data->d_buf), data->d_size};
}

// Reads texts in entries. The library does not check that each text has an end in its section.
class EntryTexts {
 public:
  // The text of the attribute; empty if the entry has none.
  OpenText of(Dwarf_Die& entry, unsigned name) {
    Dwarf_Attribute attribute;
    if (dwarf_attr_integrate(&entry, name, &attribute) == nullptr) return {};
    const char* const text = dwarf_formstring(&attribute);
    if (text == nullptr) return {};
    Dwarf* dwarf = dwarf_cu_getdwarf(attribute.cu);
    const unsigned form = dwarf_whatform(&attribute);
    if (form == DW_FORM_GNU_strp_alt || form == DW_FORM_strp_sup) dwarf = dwarf_getalt(dwarf);
    if (dwarf == nullptr) return {};
    for (const std::span<const std::byte> section : sections_of(dwarf)) {
      const auto* const begin = reinterpret_cast<const char*>(section.data());
      const char* const end = begin + section.size();
      if (std::less<>()(text, begin) || !std::less<>()(text, end)) continue;
      return {.begin = text, .left_bytes = static_cast<size_t>(end - text)};
    }
    return {};
  }

 private:
  using Sections = std::vector<std::span<const std::byte>>;

  // A split unit and a file of shared entries (dwz) have files of their own.
  const Sections& sections_of(Dwarf* dwarf) {
    const auto known = sections_.find(dwarf);
    if (known != sections_.end()) return known->second;
    Sections& sections = sections_[dwarf];
    visit_debug_sections(dwarf_getelf(dwarf),
                         [&](Elf_Scn* section, const GElf_Shdr&, std::string_view) {
                           sections.push_back(bytes_of(section));
                         });
    return sections;
  }

  std::map<Dwarf*, Sections> sections_;
};

}  // namespace htmtrace
