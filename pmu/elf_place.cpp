// SPDX-License-Identifier: GPL-2.0-or-later
#include "pmu/elf_place.h"

#include <elf.h>
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "core/base/error.h"

namespace htmtrace {
namespace {

constexpr const char* kOffsetHint = "pass the file offset: FILE:0xOFFSET";
// e_flags of ppc64: version of the ABI (Power Architecture 64-Bit ELF V2 ABI, 4.1.1).
constexpr uint32_t kAbiMask = 3;
constexpr uint32_t kAbiWithDescriptors = 1;

// Reads an ELF file without trusting its contents. Each read checks its bounds and throws Error on
// failure.
class ElfFile {
 public:
  explicit ElfFile(const std::filesystem::path& path) : path_(path.string()) {
    std::error_code failure;
    if (!std::filesystem::is_regular_file(path, failure)) {
      throw Error(fmt::format("cannot use {}", path_), failure ? failure.value() : EINVAL);
    }
    size_ = std::filesystem::file_size(path, failure);
    errno = 0;
    file_.open(path, std::ios::binary);
    if (!file_) throw Error(fmt::format("cannot open {}", path_), errno != 0 ? errno : EIO);
    header_ = table<Elf64_Ehdr>(0, 1).front();
    const bool elf = std::memcmp(header_.e_ident, ELFMAG, SELFMAG) == 0;
    constexpr auto kOurs = std::endian::native == std::endian::big ? ELFDATA2MSB : ELFDATA2LSB;
    if (!elf || header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != kOurs) {
      throw bad("not a 64-bit program or library of this machine");
    }
    if (header_.e_shentsize == sizeof(Elf64_Shdr)) {
      sections_ = table<Elf64_Shdr>(header_.e_shoff, header_.e_shnum);
    }
    if (header_.e_phentsize == sizeof(Elf64_Phdr)) {
      segments_ = table<Elf64_Phdr>(header_.e_phoff, header_.e_phnum);
    }
  }

  const Elf64_Ehdr& header() const { return header_; }
  const std::vector<Elf64_Shdr>& sections() const { return sections_; }

  template <typename T>
  std::vector<T> table(uint64_t offset, uint64_t count) {
    if (offset > size_ || count > (size_ - offset) / sizeof(T)) throw bad("the file is truncated");
    std::vector<T> entries(count);
    file_.seekg(static_cast<std::streamoff>(offset));
    file_.read(reinterpret_cast<char*>(entries.data()),
               static_cast<std::streamsize>(count * sizeof(T)));
    if (!file_) throw bad("read error");
    return entries;
  }

  uint64_t offset_of(uint64_t address) const {
    for (const Elf64_Phdr& segment : segments_) {
      if (segment.p_type != PT_LOAD || address < segment.p_vaddr) continue;
      if (address - segment.p_vaddr < segment.p_filesz) {
        return address - segment.p_vaddr + segment.p_offset;
      }
    }
    throw bad(fmt::format("no segment holds address {:#x}", address));
  }

  Error bad(const std::string& why) const {
    return Error(fmt::format("cannot use {}: {}", path_, why)).hint(kOffsetHint);
  }

 private:
  std::string path_;
  std::ifstream file_;
  uint64_t size_ = 0;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Shdr> sections_;
  std::vector<Elf64_Phdr> segments_;
};

bool is_code(const Elf64_Sym& symbol) {
  const auto type = ELF64_ST_TYPE(symbol.st_info);
  // Assembler labels have no type.
  return symbol.st_shndx != SHN_UNDEF && symbol.st_shndx < SHN_LORESERVE &&
         (type == STT_FUNC || type == STT_NOTYPE || type == STT_GNU_IFUNC);
}

bool has_name(const Elf64_Sym& symbol, std::span<const char> names, const std::string& name) {
  if (symbol.st_name >= names.size()) return false;
  const auto rest = names.subspan(symbol.st_name);
  const auto end = std::ranges::find(rest, '\0');
  return std::ranges::equal(rest.begin(), end, name.begin(), name.end());
}

uint64_t entry_of(const ElfFile& file, const Elf64_Sym& symbol) {
  if (file.header().e_machine != EM_PPC64) return symbol.st_value;
  return symbol.st_value + PPC64_LOCAL_ENTRY_OFFSET(symbol.st_other);
}

// The addresses of all symbols with the name. Symbols that other files can see take precedence.
struct Found {
  std::set<uint64_t> visible, hidden;
};

void find_in(ElfFile& file, const Elf64_Shdr& section, const std::string& name, Found& found) {
  if (section.sh_link >= file.sections().size()) throw file.bad("the symbols have no names");
  const Elf64_Shdr& strings = file.sections()[section.sh_link];
  const auto names = file.table<char>(strings.sh_offset, strings.sh_size);
  const auto symbols =
      file.table<Elf64_Sym>(section.sh_offset, section.sh_size / sizeof(Elf64_Sym));
  for (const Elf64_Sym& symbol : symbols) {
    if (!is_code(symbol) || !has_name(symbol, names, name)) continue;
    const bool local = ELF64_ST_BIND(symbol.st_info) == STB_LOCAL;
    (local ? found.hidden : found.visible).insert(entry_of(file, symbol));
  }
}

}  // namespace

uint64_t elf_file_offset(const std::filesystem::path& path, const std::string& symbol) {
  ElfFile file(path);
  if (file.header().e_machine == EM_PPC64 &&
      (file.header().e_flags & kAbiMask) == kAbiWithDescriptors) {
    throw file.bad("the symbols are function descriptors (ELF ABI version 1)");
  }
  Found found;
  bool any = false;
  for (const Elf64_Shdr& section : file.sections()) {
    if (section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) continue;
    any = true;
    find_in(file, section, symbol, found);
  }
  if (!any) throw file.bad("the symbols were stripped");
  const std::set<uint64_t>& best = found.visible.empty() ? found.hidden : found.visible;
  if (best.empty()) throw file.bad(fmt::format("the file has no function {}", symbol));
  if (best.size() == 1) return file.offset_of(*best.begin());
  Error error = file.bad(fmt::format("the file has {} functions named {}", best.size(), symbol));
  for (const uint64_t address : best) {
    error = std::move(error).on(fmt::format("function at offset {:#x}", file.offset_of(address)));
  }
  throw error;
}

}  // namespace htmtrace
