// SPDX-License-Identifier: GPL-2.0-or-later
// Symbols of program files, also of files that claim far more content than they hold.
#include "output/symbols/elf_symbols.h"

#include <doctest/doctest.h>
#include <elf.h>

#include <bit>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {
namespace {

template <class Part>
std::string bytes_of_part(const Part& part) {
  return {reinterpret_cast<const char*>(&part), sizeof(part)};
}

// All `sections` of code share the same bytes, and all `symbols` share a name of `name_bytes`
// letters.
std::string elf_file(size_t sections, size_t code_bytes, size_t symbols, size_t name_bytes) {
  constexpr uint64_t kProgramAddress = 0x10000000;
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = std::endian::native == std::endian::big ? ELFDATA2MSB : ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_EXEC;
  header.e_machine = EM_PPC64;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_phoff = sizeof(Elf64_Ehdr);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<uint16_t>(sections + 3);
  header.e_shoff = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr);
  Elf64_Phdr segment{};
  segment.p_type = PT_LOAD;
  segment.p_vaddr = kProgramAddress;
  segment.p_memsz = code_bytes;

  const uint64_t code_at = header.e_shoff + (sections + 3) * sizeof(Elf64_Shdr);
  const std::string names = std::string(1, '\0') + std::string(name_bytes, 'a') + '\0';
  Elf64_Shdr code{};
  code.sh_type = SHT_PROGBITS;
  code.sh_flags = SHF_ALLOC | SHF_EXECINSTR;
  code.sh_addr = kProgramAddress;
  code.sh_offset = code_at;
  code.sh_size = code_bytes;
  Elf64_Shdr table{};
  table.sh_type = SHT_SYMTAB;
  table.sh_offset = code_at + code_bytes;
  table.sh_size = (symbols + 1) * sizeof(Elf64_Sym);
  table.sh_entsize = sizeof(Elf64_Sym);
  table.sh_link = static_cast<uint32_t>(sections + 2);
  Elf64_Shdr strings{};
  strings.sh_type = SHT_STRTAB;
  strings.sh_offset = table.sh_offset + table.sh_size;
  strings.sh_size = names.size();
  Elf64_Sym symbol{};
  symbol.st_name = 1;
  symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
  symbol.st_shndx = 1;
  symbol.st_value = kProgramAddress;
  symbol.st_size = 4;

  std::string text = bytes_of_part(header) + bytes_of_part(segment) + bytes_of_part(Elf64_Shdr{});
  for (size_t i = 0; i < sections; i++) text += bytes_of_part(code);
  text += bytes_of_part(table) + bytes_of_part(strings) + std::string(code_bytes, '\0');
  text += bytes_of_part(Elf64_Sym{});
  for (size_t i = 0; i < symbols; i++) text += bytes_of_part(symbol);
  return text + names;
}

size_t symbols_in(const std::string& file) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "program";
  std::ofstream(path, std::ios::binary) << file;
  SymbolTable table;
  return add_elf_symbols(path, std::nullopt, table);
}

}  // namespace

TEST_CASE("symbols of ELF files") {
  SymbolTable table;
  CHECK_THROWS_AS(add_elf_symbols("/nonexistent/file", std::nullopt, table), Error);
  if (!can_read_elf()) return;
  const TemporaryFolder folder;
  folder.write("text", "this is no ELF file");
  CHECK_THROWS_AS(add_elf_symbols(folder.path() / "text", std::nullopt, table), Error);
  // This program itself, as if it had been loaded at a far address.
  constexpr uint64_t kPlace = 0x7fff00000000;
  const size_t added = add_elf_symbols("/proc/self/exe", kPlace, table);
  CHECK(added > 100);
  table.finish();
  CHECK(table.size() > 100);
  CHECK(table.find({kPlace - 1}) == nullptr);
}

TEST_CASE("symbols may share names, and sections may be adjacent, as linkers arrange them") {
  if (!can_read_elf()) return;
  CHECK(symbols_in(elf_file(1, 4096, 100, 200)) == 100);
}

TEST_CASE("a file that is refused leaves no names") {
  if (!can_read_elf()) return;
  const TemporaryFolder folder;
  const auto path = folder.path() / "program";
  std::ofstream(path, std::ios::binary) << elf_file(1, 4096, 20000, 500000);
  SymbolTable table;
  CHECK_THROWS_AS(add_elf_symbols(path, std::nullopt, table), Error);
  CHECK(table.programs().empty());
  CHECK(table.empty());
  table.finish();
}

TEST_CASE("many symbols with one long name do not each take memory") {
  if (!can_read_elf()) return;
  CHECK_THROWS_AS(symbols_in(elf_file(1, 4096, 20000, 500000)), Error);
}

TEST_CASE("many sections with the same code do not each take memory") {
  if (!can_read_elf()) return;
  CHECK_THROWS_AS(symbols_in(elf_file(1000, 500000, 1, 4)), Error);
}

// The code has 4096 bytes from the offset 0x1000 of the file, at the address 0x10000000 in the
// file.
std::string loadable_file(uint16_t type) {
  std::string text = elf_file(1, 4096, 1, 4);
  Elf64_Ehdr header{};
  std::memcpy(&header, text.data(), sizeof(header));
  header.e_type = type;
  std::memcpy(text.data(), &header, sizeof(header));
  Elf64_Phdr segment{};
  std::memcpy(&segment, text.data() + header.e_phoff, sizeof(segment));
  segment.p_flags = PF_R | PF_X;
  segment.p_offset = 0x1000;
  segment.p_filesz = 4096;
  std::memcpy(text.data() + header.e_phoff, &segment, sizeof(segment));
  return text;
}

TEST_CASE("a recorded mapping determines the load address of a program") {
  if (!can_read_elf()) return;
  const TemporaryFolder folder;
  folder.write("pie", loadable_file(ET_DYN));
  folder.write("fixed", loadable_file(ET_EXEC));
  const auto name_at = [&](const char* file, uint64_t offset, uint64_t begin, uint64_t address,
                           bool is_automatic = true) -> std::string {
    const CodeMapping mapping{.path = "/guest/prog",
                              .inode = 1,
                              .address = begin,
                              .bytes = 0x1000,
                              .offset = offset,
                              .permissions = "r-xp"};
    SymbolTable table;
    add_elf_symbols(folder.path() / file, std::nullopt, table,
                    {.path = "/guest/prog", .mapping = &mapping, .is_automatic = is_automatic});
    table.finish();
    CHECK(table.programs().at(0).path == "/guest/prog");
    CHECK(table.programs().at(0).may_guess_data ==
          (!is_automatic || std::string_view(file) == "pie"));
    const SymbolTable::Symbol* const symbol = table.find({address});
    return symbol == nullptr ? "" : symbol->name;
  };
  CHECK(name_at("pie", 0x1000, 0x7fff00001000, 0x7fff00001000) == "aaaa");
  CHECK(name_at("pie", 0x1000, 0x7fff00001000, 0x10000000).empty());
  CHECK(name_at("fixed", 0x1000, 0x10000000, 0x10000000) == "aaaa");
  // Another program, an address between pages, and a part of the file without code.
  CHECK_THROWS_AS(name_at("fixed", 0x1000, 0x20000000, 0), Error);
  CHECK_THROWS_AS(name_at("pie", 0x1000, 0x20000010, 0), Error);
  CHECK_THROWS_AS(name_at("pie", 0x2000, 0x20000000, 0), Error);
  // The user knows that the file is the right one.
  CHECK(name_at("fixed", 0x1000, 0x20000000, 0x10000000, false) == "aaaa");
}

}  // namespace htmtrace
