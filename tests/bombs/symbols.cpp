// SPDX-License-Identifier: GPL-2.0-or-later
// Names: ELF files, kallsyms, and the maps and pages of processes.
#include <elf.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "tests/bombs/bomb.h"
#include "tests/bombs/elf_file.h"

namespace htmtrace::bombs {
namespace {

// `symbols` symbols with names of `name_bytes` characters, which overlap. A symbol of a section
// names bytes in memory only if `in_memory`.
void put_overlapping_names(const char* file_name, uint32_t symbols, uint32_t name_bytes,
                           bool in_memory) {
  File file(file_name);
  const uint64_t names = sizeof(Elf64_Ehdr);
  const uint64_t table = names + name_bytes + 2;
  const uint64_t table_bytes = symbols * sizeof(Elf64_Sym);
  file.object(elf_header(4, table + table_bytes));
  file.put(std::string_view("\0", 1));
  file.put(std::string(name_bytes, 'a'));
  file.put(std::string_view("\0", 1));
  for (uint32_t i = 0; i < symbols; i++) {
    Elf64_Sym symbol{};
    symbol.st_name = 1 + i % 64;
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    symbol.st_shndx = in_memory ? 3 : SHN_ABS;
    symbol.st_value = 0x10000000 + 16 * uint64_t{i};
    symbol.st_size = 16;
    file.object(symbol);
  }
  file.object(section(SHT_NULL, 0, 0));
  file.object(section(SHT_STRTAB, names, name_bytes + 2));
  Elf64_Shdr symtab = section(SHT_SYMTAB, table, table_bytes);
  symtab.sh_link = 1;
  symtab.sh_entsize = sizeof(Elf64_Sym);
  file.object(symtab);
  Elf64_Shdr code = section(SHT_NOBITS, 0, 16 * uint64_t{symbols});
  code.sh_flags = SHF_ALLOC | SHF_EXECINSTR;
  code.sh_addr = 0x10000000;
  file.object(code);
}

// 680 kB, of which 3.6 GB of names.
void elf_names(unsigned) {
  put_code_trace(1);
  put_overlapping_names("program", 14'000, 300'000, true);
}

void elf_other_names(unsigned) {
  put_code_trace(1);
  put_overlapping_names("program", 400'000, 2'000'000, false);
}

void elf_short_names(unsigned scale) {
  put_code_trace(1);
  put_overlapping_names("program", 500'000 * scale, 80, true);
}

// Many sections of code, which a trace of other code searches.
void elf_sections(unsigned) {
  put_code_trace(200'000);
  constexpr uint16_t kSections = 60'000;
  constexpr uint64_t kNames = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr), kNameBytes = 8;
  constexpr uint64_t kSymbols = kNames + kNameBytes;
  File file("program");
  Elf64_Ehdr header = elf_header(kSections, kSymbols + sizeof(Elf64_Sym));
  header.e_phoff = sizeof(Elf64_Ehdr);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  file.object(header);
  Elf64_Phdr segment{};
  segment.p_type = PT_LOAD;
  segment.p_vaddr = 0x10000000;
  segment.p_memsz = 0x10000000;
  file.object(segment);
  file.put(std::string_view("\0symbol\0", kNameBytes));
  Elf64_Sym symbol{};
  symbol.st_name = 1;
  symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
  symbol.st_shndx = 3;
  symbol.st_value = 0x10000000;
  file.object(symbol);
  file.object(section(SHT_NULL, 0, 0));
  file.object(section(SHT_STRTAB, kNames, kNameBytes));
  Elf64_Shdr symtab = section(SHT_SYMTAB, kSymbols, sizeof(Elf64_Sym));
  symtab.sh_link = 1;
  symtab.sh_entsize = sizeof(Elf64_Sym);
  file.object(symtab);
  for (uint64_t i = 3; i < kSections; i++) {
    Elf64_Shdr code = section(SHT_PROGBITS, sizeof(Elf64_Ehdr), 4);
    code.sh_flags = SHF_ALLOC | SHF_EXECINSTR;
    code.sh_addr = 0x10000000 + 0x1000 * i;
    file.object(code);
  }
}

// Lines of six characters.
void short_kallsyms(unsigned scale) {
  put_code_trace(1);
  File file("htm.kallsyms");
  for (unsigned i = 0; i < 4'000'000 * scale; i++) file.put("1 t a\n");
}

// Twice the names of a large kernel with many modules.
void usual_kallsyms(unsigned) {
  put_code_trace(1);
  File file("htm.kallsyms");
  for (uint64_t i = 0; i < 400'000; i++) {
    file.put(fmt::format("{:016x} t a_function_of_the_kernel_{}\t[module_{}]\n",
                         0xc000000000000000 + 256 * i, i, i / 1000));
  }
}

void put_process(File& file, uint64_t pid) {
  file.put(fmt::format("# pid {} {} 100 worker\n", 1000 + pid, pid));
}

// A POWER9 bus trace with one command.
void put_bus_trace() {
  File file("htm.bin.n0.p0.c0");
  for (const uint64_t word : {uint64_t{0x3ffe123456780000}, uint64_t{0xaceff00000000000}})
    file.be64(word);
  for (int i = 0; i < 14; i++) file.be64(0);
  constexpr uint64_t kSecondLine[] = {0x3ffe123456789000, 0xaceff00000000000, 0x8a10a062468acf13,
                                      0x53aa010140000000, 0x8a10a062468acf13, 0x53aa0101611554c0};
  for (const uint64_t word : kSecondLine) file.be64(word);
}

// 1000 processes have mapped the same library, each at another address.
void usual_pages(unsigned) {
  constexpr const char* kLibrary = "library";
  put_bus_trace();
  put_overlapping_names(kLibrary, 8000, 80, true);
  struct stat facts {};
  if (::stat(kLibrary, &facts) != 0) std::abort();
  const std::string path = std::filesystem::absolute(kLibrary).string();
  File file("htm.pages");
  file.put("# pages of 65536 bytes of the workload's processes\n");
  for (uint64_t i = 0; i < 1000; i++) {
    const uint64_t begin = 0x7fff00000000 + 0x1000000 * i;
    put_process(file, i);
    file.put(fmt::format("{:x}-{:x} r-xp 00000000 fe:00 {} {}\n {:x} {:x} 10000\n", begin,
                         begin + 0x80000, static_cast<uint64_t>(facts.st_ino), path, begin,
                         0x40000000 + 0x10000 * i));
    file.put(fmt::format("{:x}-{:x} rw-p 00000000 00:00 0 [heap]\n {:x} {:x} 30000\n", 0x20000000,
                         0x20100000, 0x20000000, 0x80000000 + 0x100000 * i));
  }
}

void pages_of_runs(unsigned scale) {
  put_bus_trace();
  File file("htm.pages");
  put_process(file, 1);
  file.put("0-1 r 0 0 0 /a\n");
  for (unsigned i = 0; i < 2'500'000 * scale; i++) file.put(" 0 0 1\n");
}

void pages_of_mappings(unsigned scale) {
  put_bus_trace();
  File file("htm.pages");
  put_process(file, 1);
  for (unsigned i = 0; i < 1'500'000 * scale; i++) file.put("0-1 r 0 0 0\n");
}

void pages_of_processes(unsigned scale) {
  put_bus_trace();
  File file("htm.pages");
  for (unsigned i = 0; i < 1'500'000 * scale; i++) file.put("# pid 1 1 1\n");
}

void pages_of_files(unsigned scale) {
  put_bus_trace();
  File file("htm.pages");
  put_process(file, 1);
  for (unsigned i = 0; i < 800'000 * scale; i++) {
    file.put(fmt::format("0-1 r 0 0 0 /{}\n", i));
  }
}

void short_maps(unsigned scale) {
  put_code_trace(1);
  File file("htm.maps");
  for (unsigned i = 0; i < 4'000'000 * scale; i++) file.put("0-1\n");
}

}  // namespace

std::vector<Bomb> symbol_bombs() {
  using enum Outcome;
  const std::vector<std::string> report = {"report", "."};
  const std::vector<std::string> bus = {"report", "--type", "nest", "."};
  const std::vector<std::string> with_elf = {"report", "--elf", "program", "."};
  return {
      {"elf-names", kEither, elf_names, with_elf},
      {"elf-other-names", kEither, elf_other_names, with_elf},
      {"elf-short-names", kEither, elf_short_names, with_elf},
      {"elf-sections", kEither, elf_sections, with_elf},
      {"kallsyms-short", kEither, short_kallsyms, report},
      {"kallsyms-usual", kRead, usual_kallsyms, report},
      {"pages-usual", kRead, usual_pages, bus},
      {"pages-runs", kEither, pages_of_runs, bus},
      {"pages-mappings", kEither, pages_of_mappings, bus},
      {"pages-processes", kEither, pages_of_processes, bus},
      {"pages-files", kEither, pages_of_files, bus},
      {"maps-short", kEither, short_maps, {"diff", ".", "."}},
  };
}

}  // namespace htmtrace::bombs
