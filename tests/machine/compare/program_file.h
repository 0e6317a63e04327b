// SPDX-License-Identifier: GPL-2.0-or-later
// The symbols and the code of a program file, read from the file alone: what names-compare takes
// for the truth. A 64-bit little-endian ELF file; anything else throws std::runtime_error.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace htmtrace::compare {

class ProgramFile {
 public:
  explicit ProgramFile(const std::string& path);

  const std::string& name() const { return name_; }

  // Whether the file has `word` at `address` of its code.
  bool has_word(uint64_t address, uint32_t word) const;
  bool in_code(uint64_t address) const;

  struct Name {
    std::string text;    // all names that are right, separated by |; empty: the address has none
    uint64_t begin = 0;  // from which the distance counts
    bool sized = false;  // else the address may also have no name
  };
  // Of several symbols that hold the address, the one that begins last, then the smallest.
  const Name& name_of(uint64_t address) const;

 private:
  struct Section {
    uint64_t address, end;
    bool code;
    std::string bytes;
  };
  struct Symbol {
    uint64_t address, size;
    unsigned section;
    std::string name;
  };
  Name look_up(uint64_t address) const;

  std::string name_;
  std::vector<Section> sections_;
  std::vector<Symbol> symbols_;
  mutable std::map<uint64_t, Name> known_;
};

}  // namespace htmtrace::compare
