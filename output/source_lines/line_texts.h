// SPDX-License-Identifier: GPL-2.0-or-later
// The texts of source lines for printers. For one thread.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/analysis/symbol_cursor.h"
#include "core/analysis/symbol_table.h"
#include "core/base/spread.h"
#include "core/core_trace/events.h"
#include "output/source_lines/source_files.h"

namespace htmtrace {

// The mark of names and lines whose program is not proven (core/analysis/symbol_table.h).
inline const char* proof_mark(bool proven) {
  return proven ? "" : "?";
}

// "FILE:LINE" of the innermost frame, and the mark; empty if its file is unknown.
std::string line_text(const std::vector<SourceFrame>& frames, bool proven);

// The inlined functions, innermost first, each with its mark and the line of its call:
// "inner@/src/a.c:7;outer@/src/b.c:12". Empty without inlined functions.
std::string inlined_text(const std::vector<SourceFrame>& frames, bool proven);

// Keeps the texts of the instructions that were asked for, in limited memory.
class LineTexts {
 public:
  // How the printer writes frames.
  using Write = std::string (*)(const std::vector<SourceFrame>& frames, bool proven);
  struct Texts {
    std::string line;
    std::string inlined;
  };

  // Both must outlive this object. Without `files`, wanted() is false.
  LineTexts(const SymbolTable* symbols, SourceFiles* files, Write line, Write inlined);

  bool wanted() const { return files_ != nullptr; }

  // The texts of an instruction with an address. Valid until the next call. Call it only if
  // wanted().
  const Texts& at(const Instruction& instruction) {
    const Key key = key_of(instruction);
    size_t place = secret_place(key.hash(), slots_.size());
    for (; slots_[place].key.ea != kFree; place = (place + 1) & (slots_.size() - 1)) {
      if (slots_[place].key == key) [[likely]]
        return texts_[slots_[place].number];
    }
    return find(instruction, key);
  }

 private:
  // Instruction addresses are multiples of 4, so this address is free.
  static constexpr uint64_t kFree = 1;
  // All facts on which the program of an instruction depends (core/analysis/symbol_cursor.h).
  struct Key {
    uint64_t ea = kFree;
    uint64_t la = 0;
    uint64_t words = 0;
    Modes modes;
    bool has_la = false;
    bool has_opcode = false;
    bool has_prefix = false;
    bool operator==(const Key&) const = default;
    // Without the secret factor, a trace could choose keys with equal hashes.
    uint64_t hash() const {
      const uint64_t factor = kHashSecret.factor;
      const uint64_t mode = uint64_t{modes.known} << 16 | modes.bits;
      return ea ^ words * factor ^ std::rotl(la * factor, 32) ^ std::rotl(mode * factor, 16);
    }
  };
  struct Slot {
    Key key;
    uint32_t number = 0;  // in texts_
  };
  static constexpr size_t kFirstSlots = 1 << 12;  // a power of two, like every size
  // The code of a busy program. At most half of the slots are used.
  static constexpr size_t kMostSlots = 1 << 18;
  static constexpr size_t kMostBytes = 32 << 20;  // of texts

  static Key key_of(const Instruction& instruction) {
    return {.ea = instruction.ea.value,
            .la = instruction.has_la ? instruction.la.value : 0,
            .words = uint64_t{instruction.has_prefix ? instruction.prefix : 0} << 32 |
                     (instruction.has_opcode ? instruction.opcode : 0),
            .modes = instruction.modes,
            .has_la = instruction.has_la,
            .has_opcode = instruction.has_opcode,
            .has_prefix = instruction.has_prefix};
  }
  const Texts& find(const Instruction& instruction, const Key& key);
  void put(const Slot& slot);
  void grow();
  void clear();

  std::optional<SymbolCursor> cursor_;
  SourceFiles* files_;
  Write line_;
  Write inlined_;
  std::vector<Slot> slots_;
  size_t used_ = 0;
  std::vector<Texts> texts_;
  size_t bytes_ = 0;                                 // of texts_
  std::unordered_map<uint64_t, uint32_t> by_begin_;  // texts by the first address that has them
  std::vector<SourceFrame> frames_;
};

}  // namespace htmtrace
