// SPDX-License-Identifier: GPL-2.0-or-later
#include "pmu/elf_place.h"

#include <doctest/doctest.h>
#include <elf.h>

#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "tests/unit/message_of.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {
namespace {

constexpr uint64_t kAddress = 0x10000000;    // address of the file's only segment
constexpr uint64_t kSegmentOffset = 0x2000;  // file offset of this segment
constexpr uint64_t kSegmentBytes = 0x1000;

// An ELF file with one segment and the symbols of the test.
class Program {
 public:
  Program() {
    std::memcpy(header_.e_ident, ELFMAG, SELFMAG);
    header_.e_ident[EI_CLASS] = ELFCLASS64;
    header_.e_ident[EI_DATA] = std::endian::native == std::endian::big ? ELFDATA2MSB : ELFDATA2LSB;
    header_.e_machine = EM_PPC64;
    header_.e_flags = 2;
    header_.e_phentsize = sizeof(Elf64_Phdr);
    header_.e_phnum = 1;
    header_.e_shentsize = sizeof(Elf64_Shdr);
    header_.e_shnum = 2;
  }

  Elf64_Ehdr& header() { return header_; }

  void symbol(const std::string& name, uint64_t value, unsigned bind, unsigned type,
              unsigned other = 0, unsigned section = 1) {
    Elf64_Sym entry{};
    entry.st_name = static_cast<uint32_t>(names_.size());
    entry.st_value = value;
    entry.st_info = static_cast<uint8_t>(ELF64_ST_INFO(bind, type));
    entry.st_other = static_cast<uint8_t>(other);
    entry.st_shndx = static_cast<uint16_t>(section);
    symbols_.push_back(entry);
    names_ += name + '\0';
  }

  std::string bytes() {
    Elf64_Phdr segment{};
    segment.p_type = PT_LOAD;
    segment.p_vaddr = kAddress;
    segment.p_offset = kSegmentOffset;
    segment.p_filesz = kSegmentBytes;
    Elf64_Shdr strings{}, table{};
    header_.e_phoff = sizeof(header_);
    header_.e_shoff = header_.e_phoff + sizeof(segment);
    strings.sh_type = SHT_STRTAB;
    strings.sh_offset = header_.e_shoff + 2 * sizeof(strings);
    strings.sh_size = names_.size();
    table.sh_type = SHT_SYMTAB;
    table.sh_link = 0;
    table.sh_offset = strings.sh_offset + strings.sh_size;
    table.sh_size = symbols_.size() * sizeof(Elf64_Sym);
    std::string text;
    append(text, header_);
    append(text, segment);
    append(text, strings);
    append(text, table);
    text += names_;
    for (const Elf64_Sym& entry : symbols_) append(text, entry);
    return text;
  }

 private:
  template <typename T>
  static void append(std::string& text, const T& value) {
    text.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }

  Elf64_Ehdr header_{};
  std::string names_ = std::string(1, '\0');
  std::vector<Elf64_Sym> symbols_;
};

class Place {
 public:
  explicit Place(const std::string& bytes) { folder_.write("prog", bytes); }
  uint64_t of(const std::string& symbol) const {
    return elf_file_offset(folder_.path() / "prog", symbol);
  }
  std::string refusal(const std::string& symbol) const {
    const std::string text = message_of([&] { of(symbol); });
    return text.substr(text.find("prog") + 4);
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("a function is found at its file offset") {
  Program program;
  program.symbol("main", kAddress + 0x10, STB_GLOBAL, STT_FUNC);
  program.symbol("label", kAddress + 0x20, STB_LOCAL, STT_NOTYPE);
  // The global entry point precedes the local entry point by two instructions.
  program.symbol("two", kAddress + 0x40, STB_GLOBAL, STT_FUNC, 3 << 5);
  program.symbol("data", kAddress + 0x50, STB_GLOBAL, STT_OBJECT);
  program.symbol("away", kAddress + kSegmentBytes, STB_GLOBAL, STT_FUNC);
  program.symbol("undefined", 0, STB_GLOBAL, STT_FUNC, 0, SHN_UNDEF);
  const Place place(program.bytes());
  CHECK(place.of("main") == kSegmentOffset + 0x10);
  CHECK(place.of("label") == kSegmentOffset + 0x20);
  CHECK(place.of("two") == kSegmentOffset + 0x48);
  CHECK(place.refusal("data") == ": the file has no function data");
  CHECK(place.refusal("undefined") == ": the file has no function undefined");
  CHECK(place.refusal("mai") == ": the file has no function mai");
  CHECK(place.refusal("away") == ": no segment holds address 0x10001000");
}

TEST_CASE("among functions of one name, the visible function is selected") {
  Program program;
  program.symbol("helper", kAddress + 0x10, STB_LOCAL, STT_FUNC);
  program.symbol("helper", kAddress + 0x20, STB_LOCAL, STT_FUNC);
  program.symbol("work", kAddress + 0x30, STB_LOCAL, STT_FUNC);
  program.symbol("work", kAddress + 0x40, STB_GLOBAL, STT_FUNC);
  const Place place(program.bytes());
  CHECK(place.of("work") == kSegmentOffset + 0x40);
  CHECK(place.refusal("helper") == ": the file has 2 functions named helper");
}

TEST_CASE("damaged files and programs of other machines are rejected") {
  Program program;
  program.symbol("main", kAddress, STB_GLOBAL, STT_FUNC);
  const std::string whole = program.bytes();
  for (size_t size = 0; size < whole.size(); size++) {
    CAPTURE(size);
    CHECK(Place(whole.substr(0, size)).refusal("main").starts_with(": "));
  }
  CHECK(Place("#!/bin/sh" + whole).refusal("main") ==
        ": not a 64-bit program or library of this machine");

  Program old = program;
  old.header().e_flags = 1;
  CHECK(Place(old.bytes()).refusal("main") ==
        ": the symbols are function descriptors (ELF ABI version 1)");
  Program stripped;
  stripped.header().e_shnum = 0;
  CHECK(Place(stripped.bytes()).refusal("main") == ": the symbols were stripped");
  Program far = program;
  std::string text = far.bytes();
  // The link from the symbol table to its names.
  Elf64_Shdr table{};
  const size_t at = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) + sizeof(Elf64_Shdr);
  std::memcpy(&table, text.data() + at, sizeof(table));
  table.sh_link = 7;
  std::memcpy(text.data() + at, &table, sizeof(table));
  CHECK(Place(text).refusal("main") == ": the symbols have no names");
}

}  // namespace htmtrace
