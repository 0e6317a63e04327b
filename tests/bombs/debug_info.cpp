// SPDX-License-Identifier: GPL-2.0-or-later
// Programs with debug information of DWARF 4.
#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "tests/bombs/bomb.h"
#include "tests/bombs/elf_file.h"

namespace htmtrace::bombs {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

std::string bytes_of(uint64_t value, unsigned size_bytes) {
  std::string text;
  for (unsigned i = 0; i < size_bytes; i++) text += static_cast<char>(value >> 8 * i);
  return text;
}

std::string uleb(uint64_t value) {
  std::string text;
  for (; value >= 0x80; value >>= 7) text += static_cast<char>(value | 0x80);
  return text + static_cast<char>(value);
}

struct DebugSections {
  std::string info, abbrev, line, str, ranges;
};

// "program": the code that put_code_trace(lines) executes is one function with this size.
void put_program(const DebugSections& debug, unsigned lines, uint64_t function_bytes) {
  constexpr std::string_view kNames =
      "\0f\0.debug_info\0.debug_abbrev\0.debug_line\0.debug_str\0.debug_ranges\0"sv;
  const std::array<std::string_view, 5> debug_bytes = {debug.info, debug.abbrev, debug.line,
                                                       debug.str, debug.ranges};
  const std::array<std::string_view, 5> debug_names = {
      ".debug_info", ".debug_abbrev", ".debug_line", ".debug_str", ".debug_ranges"};
  constexpr uint16_t kSections = 9;
  uint64_t offset = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr);
  std::array<Elf64_Shdr, kSections> sections{};
  const auto next = [&offset](uint32_t type, uint64_t size_bytes) {
    const Elf64_Shdr result = section(type, offset, size_bytes);
    offset += size_bytes;
    return result;
  };
  const uint64_t code_bytes = uint64_t{lines} * 128;
  sections[1] = next(SHT_STRTAB, kNames.size());
  sections[2] = next(SHT_SYMTAB, sizeof(Elf64_Sym));
  sections[2].sh_link = 1;
  sections[2].sh_entsize = sizeof(Elf64_Sym);
  sections[3] = next(SHT_PROGBITS, code_bytes);
  sections[3].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
  sections[3].sh_addr = kCodeAddress;
  for (size_t i = 0; i < debug_bytes.size(); i++) {
    sections[4 + i] = next(SHT_PROGBITS, debug_bytes[i].size());
    sections[4 + i].sh_name = static_cast<uint32_t>(kNames.find(debug_names[i]));
  }
  File file("program");
  Elf64_Ehdr header = elf_header(kSections, offset);
  header.e_shstrndx = 1;
  header.e_phoff = sizeof(Elf64_Ehdr);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  file.object(header);
  Elf64_Phdr segment{};
  segment.p_type = PT_LOAD;
  segment.p_offset = sections[3].sh_offset;
  segment.p_vaddr = kCodeAddress;
  segment.p_filesz = segment.p_memsz = code_bytes;
  file.object(segment);
  file.put(kNames);
  Elf64_Sym symbol{};
  symbol.st_name = 1;
  symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
  symbol.st_shndx = 3;
  symbol.st_value = kCodeAddress;
  symbol.st_size = function_bytes;
  file.object(symbol);
  for (uint64_t i = 0; i < code_bytes; i += 4) file.le(0x60000000, 4);
  for (const std::string_view bytes : debug_bytes) file.put(bytes);
  for (const Elf64_Shdr& entry : sections) file.object(entry);
}

void put_program(const DebugSections& debug, unsigned lines) {
  put_program(debug, lines, uint64_t{lines} * 128);
}

// A unit without children has the abbreviation 1: its range and its line program.
std::string abbreviation(uint64_t code, uint8_t tag, bool has_children,
                         std::string_view attributes) {
  return uleb(code) + static_cast<char>(tag) + (has_children ? "\x01"s : "\0"s) +
         std::string(attributes) + "\0\0"s;
}
constexpr std::string_view kUnitAttributes = "\x11\x01\x12\x06\x10\x17";  // low_pc, high_pc, lines
// Name, low_pc, high_pc, call_file, call_line.
constexpr std::string_view kInlinedAttributes = "\x03\x0e\x11\x01\x12\x06\x58\x0b\x59\x0b";
constexpr uint8_t kUnitTag = 0x11, kFunctionTag = 0x2e, kInlinedTag = 0x1d;

std::string unit(const std::string& entries, uint64_t abbreviations = 0) {
  return bytes_of(7 + entries.size(), 4) + bytes_of(4, 2) + bytes_of(abbreviations, 4) + "\x08"s +
         entries;
}
std::string unit_entry(uint64_t code, uint64_t begin, uint64_t size_bytes) {
  return uleb(code) + bytes_of(begin, 8) + bytes_of(size_bytes, 4) + bytes_of(0, 4);
}
std::string inlined_entry(uint64_t name) {
  return "\x02"s + bytes_of(name, 4) + bytes_of(kCodeAddress, 8) + bytes_of(128, 4) + "\x01\x07"s;
}

// A line program with the files /a.c and `name`.
std::string line_program(const std::string& opcodes, std::string_view name = "/a.c") {
  const std::string header = "\x04\x01\x01\xfb\x0e\x0d\0\x01\x01\x01\x01\0\0\0\x01\0\0\x01\0"s +
                             std::string(name) + "\0\0\0\0\0"s;
  const std::string rest = bytes_of(4, 2) + bytes_of(header.size(), 4) + header + opcodes;
  return bytes_of(rest.size(), 4) + rest;
}
const std::string kBegin = "\0\x09\x02"s + bytes_of(kCodeAddress, 8);
const std::string kEnd = "\0\x01\x01"s;

// All units have the last abbreviation of the same long table.
void shared_abbreviations(unsigned) {
  constexpr uint64_t kUnits = 60'000, kAbbreviations = 400'000;
  put_code_trace(1);
  DebugSections debug;
  for (uint64_t i = 2; i < kAbbreviations; i++) {
    debug.abbrev += abbreviation(i, kFunctionTag, false, "");
  }
  debug.abbrev += abbreviation(1, kUnitTag, false, kUnitAttributes) + "\0"s;
  for (uint64_t i = 0; i < kUnits; i++) debug.info += unit(unit_entry(1, kCodeAddress, 128));
  put_program(debug, 1);
}

// Units of 12 bytes, each of which takes a hash table.
void many_units(unsigned) {
  put_code_trace(1);
  DebugSections debug;
  debug.abbrev = abbreviation(1, kUnitTag, false, kUnitAttributes) + "\0"s;
  for (int i = 0; i < 1'000'000; i++) debug.info += unit("\0"s);
  put_program(debug, 1);
}

// Entries of one byte with half a million attributes.
void empty_attributes(unsigned) {
  put_code_trace(1);
  DebugSections debug;
  std::string many;
  for (int i = 0; i < 500'000; i++) many += "\x3f\x19"s;
  debug.abbrev = abbreviation(1, kUnitTag, true, kUnitAttributes) +
                 abbreviation(2, kFunctionTag, false, many) + "\0"s;
  debug.info = unit(unit_entry(1, kCodeAddress, 128) + std::string(1'000'000, '\x02') + "\0"s);
  put_program(debug, 1);
}

// Each unit has the same line program, whose rows have one address.
void shared_lines(unsigned) {
  constexpr unsigned kUnits = 20'000;
  put_code_trace(kUnits);
  DebugSections debug;
  debug.abbrev = abbreviation(1, kUnitTag, false, kUnitAttributes) + "\0"s;
  debug.line = line_program(kBegin + std::string(4'000'000, '\x01') + "\x02\x04"s + kEnd);
  for (uint64_t i = 0; i < kUnits; i++) {
    debug.info += unit(unit_entry(1, kCodeAddress + 128 * i, 128));
  }
  put_program(debug, kUnits);
}

std::string inlined_unit(unsigned levels, uint64_t name_distance) {
  std::string entries = unit_entry(1, kCodeAddress, 128);
  for (uint64_t i = 0; i < levels; i++) entries += inlined_entry(i * name_distance);
  return unit(entries + std::string(levels + 1, '\0'));
}
const std::string kInlinedAbbreviations = abbreviation(1, kUnitTag, true, kUnitAttributes) +
                                          abbreviation(2, kInlinedTag, true, kInlinedAttributes) +
                                          "\0"s;

// 2000 inlined functions at one address have the same name of 100 kB.
void inlined_chain(unsigned) {
  put_code_trace(1);
  DebugSections debug{.info = inlined_unit(2000, 0),
                      .abbrev = kInlinedAbbreviations,
                      .line = line_program(kBegin + "\x01\x02\x20"s + kEnd),
                      .str = std::string(100'000, 'a') + "\0"s,
                      .ranges = {}};
  put_program(debug, 1);
}

// Many inlined functions at consecutive addresses have the same name of 8 MB.
void long_name(unsigned) {
  put_code_trace(1);
  std::string entries = unit_entry(1, kCodeAddress, 128);
  for (int i = 0; i < 400'000; i++) entries += inlined_entry(0) + "\0"s;
  DebugSections debug{.info = unit(entries + "\0"s),
                      .abbrev = kInlinedAbbreviations,
                      .line = line_program(kBegin + "\x01\x02\x20"s + kEnd),
                      .str = std::string(8'000'000, 'a') + "\0"s,
                      .ranges = {}};
  put_program(debug, 1);
}

// A line for each executed instruction, in a file with a name of 100 kB.
void long_file_name(unsigned) {
  constexpr unsigned kLines = 60'000;
  put_code_trace(kLines);
  std::string opcodes = kBegin;
  for (unsigned i = 0; i < kLines; i++) opcodes += "\x01\x03\x01\x02\x20"s;
  DebugSections debug;
  debug.abbrev = abbreviation(1, kUnitTag, false, kUnitAttributes) + "\0"s;
  debug.info = unit(unit_entry(1, kCodeAddress, uint64_t{128} * kLines));
  debug.line = line_program(opcodes + kEnd, "/" + std::string(100'000, 'a'));
  put_program(debug, kLines);
}

// Functions that have the same list of ranges, in which `element` occurs `times` times.
void shared_list(int times, const std::string& element) {
  put_code_trace(1);
  DebugSections debug;
  debug.abbrev = abbreviation(1, kUnitTag, true, kUnitAttributes) +
                 abbreviation(2, kFunctionTag, false, "\x55\x17") + "\0"s;
  std::string entries = unit_entry(1, kCodeAddress, 128);
  for (int i = 0; i < 600'000; i++) entries += "\x02\0\0\0\0"s;
  debug.info = unit(entries + "\0"s);
  for (int i = 0; i < times; i++) debug.ranges += element;
  debug.ranges += std::string(16, '\0');
  put_program(debug, 1);
}

void shared_ranges(unsigned) {
  shared_list(100'000, bytes_of(0, 8) + bytes_of(4, 8));
}

// Units that have the same list of ranges.
void unit_ranges(unsigned) {
  put_code_trace(1);
  DebugSections debug;
  debug.abbrev = abbreviation(1, kUnitTag, false, "\x55\x17") + "\0"s;
  for (int i = 0; i < 20'000; i++) debug.info += unit("\x01\0\0\0\0"s);
  for (int i = 0; i < 60'000; i++) debug.ranges += bytes_of(0, 8) + bytes_of(4, 8);
  debug.ranges += std::string(16, '\0');
  put_program(debug, 1);
}

// The elements only state a base address.
void shared_bases(unsigned) {
  shared_list(200'000, bytes_of(~uint64_t{0}, 8) + bytes_of(0, 8));
}

void large_symbol(unsigned) {
  put_code_trace(1);
  put_program({}, 1, uint64_t{1} << 61);
}

// A function of 4 million instructions, of which one runs.
void long_function(unsigned) {
  put_code_trace(1);
  put_program({}, 128 << 10);
}

}  // namespace

std::vector<Bomb> debug_info_bombs() {
  using enum Outcome;
  const std::vector<std::string> fields = {"decode", "--fields", "line,inlined",
                                           "--elf",  "program",  "."};
  const std::vector<std::string> lines = {"report", "--lines", "--elf", "program", "."};
  const std::vector<std::string> text = {"annotate", "f", "--elf", "program", "."};
  const std::vector<std::string> json = {"annotate", "f",       "--format", "json",
                                         "--elf",    "program", "."};
  const std::vector<std::string> lcov = {"report", "--format", "lcov", "--elf", "program", "."};
  return {
      {"dwarf-abbreviations", kEither, shared_abbreviations, fields},
      {"dwarf-units", kEither, many_units, fields},
      {"dwarf-attributes", kEither, empty_attributes, fields},
      {"dwarf-shared-lines", kEither, shared_lines, fields},
      {"dwarf-inlined-chain", kEither, inlined_chain, fields},
      {"dwarf-long-name", kEither, long_name, fields},
      {"dwarf-long-file-name", kRead, long_file_name, lines},
      {"dwarf-shared-ranges", kEither, shared_ranges, fields},
      {"dwarf-unit-ranges", kEither, unit_ranges, fields},
      {"dwarf-shared-bases", kEither, shared_bases, fields},
      {"coverage-units", kEither, many_units, lcov},
      {"coverage-shared-lines", kEither, shared_lines, lcov},
      {"coverage-inlined-chain", kEither, inlined_chain, lcov},
      {"coverage-long-name", kEither, long_name, lcov},
      {"coverage-long-file-name", kRead, long_file_name, lcov},
      {"coverage-shared-ranges", kEither, shared_ranges, lcov},
      {"annotate-large-symbol", kEither, large_symbol, text},
      {"annotate-long-function", kRead, long_function, text},
      {"annotate-long-function-json", kRead, long_function, json},
  };
}

}  // namespace htmtrace::bombs
