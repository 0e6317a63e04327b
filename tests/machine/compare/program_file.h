// SPDX-License-Identifier: GPL-2.0-or-later
// The symbols and the code of a program file, the truth for names-compare. Accepts a 64-bit
// little-endian ELF file; throws std::runtime_error for any other file.
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

  // Returns whether the file's code has `word` at `address`.
  bool has_word(uint64_t address, uint32_t word) const;
  bool in_code(uint64_t address) const;

  struct Name {
    std::string text;    // all right names, separated by |; empty: the address has no name
    uint64_t begin = 0;  // the offset counts from this address
    bool sized = false;  // false: htmtrace may also print no name
  };
  // If several symbols contain the address, the symbol with the highest start names it, then the
  // smallest symbol.
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
