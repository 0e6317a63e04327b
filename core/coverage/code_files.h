// SPDX-License-Identifier: GPL-2.0-or-later
// The program files of a SymbolTable, with one range of positions for the code of each file. A file
// that processes have loaded at several addresses has the same positions at all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/analysis/symbol_table.h"

namespace htmtrace {

class CodeFiles {
 public:
  struct File {
    std::string path;
    uint64_t begin = 0;  // lowest address in the file
    uint64_t end = 0;
    uint64_t first = 0;     // position of `begin`
    uint64_t distance = 0;  // from addresses in the file to those in memory, of its first load
    size_t program = SymbolTable::File::kNoProgram;  // of its first load
    bool holds(uint64_t position) const { return position - first < end - begin; }
    uint64_t position_of(uint64_t address) const { return first + (address - begin); }
    uint64_t address_of(uint64_t position) const { return begin + (position - first); }
    // The address in memory of the first load, with an owner, by which SymbolTable finds its name.
    EffectiveAddr named_address(uint64_t address) const;
  };

  explicit CodeFiles(const SymbolTable& symbols);

  // The position of an address with its owner (core/analysis/symbol_table.h). 0: in no file.
  uint64_t position_of(uint64_t address) const {
    const Load& load = loads_[load_];
    if (address - load.begin < load.bytes) [[likely]]
      return load.first + (address - load.begin);
    return search(address);
  }

  const std::vector<File>& files() const { return files_; }

 private:
  // Memory that has a file. An owner has the same position whether it is proven or not.
  struct Load {
    uint64_t begin = 0;  // with its owner
    uint64_t bytes = 0;
    uint64_t first = 0;  // position of `begin`
  };
  // Two files never have neighboring positions.
  static constexpr uint64_t kFirstPosition = 1 << 16;

  uint64_t search(uint64_t address) const;

  std::vector<File> files_;
  std::vector<Load> loads_ = std::vector<Load>(1);  // sorted by address, after an empty one
  mutable size_t load_ = 0;                         // of the last address in a file
};

}  // namespace htmtrace
