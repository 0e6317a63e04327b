// SPDX-License-Identifier: GPL-2.0-or-later
// The texts of source lines for printers. For one thread.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/analysis/symbol_cursor.h"
#include "core/analysis/symbol_table.h"
#include "core/base/spread.h"
#include "core/core_trace/events.h"
#include "output/source_lines/shared_texts.h"
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

// Keeps the texts of requested instructions in limited memory. An instruction whose texts are known
// costs two comparisons: instructions run one after the other, so most are in the block of their
// predecessor.
class LineTexts {
 public:
  // How the printer writes frames.
  using Write = std::string (*)(const std::vector<SourceFrame>& frames, bool proven);
  struct Texts {
    std::string_view line;
    std::string_view inlined;
  };

  // Both must outlive this object. Without `files`, wanted() is false.
  LineTexts(const SymbolTable* symbols, SourceFiles* files, Write line, Write inlined);

  bool wanted() const { return files_ != nullptr; }

  // The texts of an instruction with an address. Valid until the next call. Call it only if
  // wanted().
  Texts at(const Instruction& instruction) {
    const Key key = key_of(instruction);
    if (blocks_[current_].key != key) choose_block(key);
    const Known& known = blocks_[current_].known[index_of(instruction)];
    if (known.words != words_of(instruction)) [[unlikely]]
      return find(instruction);
    return texts_at(known.texts);
  }

 private:
  // A block of code is 64 bytes. Smaller blocks are left more often; larger ones waste memory if
  // only a part of them runs.
  static constexpr size_t kBlockInstructions = 16;
  static constexpr uint64_t kOffsetBits = 4 * (kBlockInstructions - 1);
  static constexpr uint64_t kNoPage = 1;

  // Together with the words, all facts on which the program of an instruction depends
  // (core/analysis/symbol_cursor.h).
  struct Key {
    uint64_t ea = kOffsetBits;  // without these bits; the default is the key of no instruction
    uint64_t page = kNoPage;    // logical address; kNoPage: unknown
    Modes modes;
    bool operator==(const Key&) const = default;
    // Without the secret factor, a trace could choose keys with equal hashes.
    uint64_t hash() const {
      const uint64_t factor = kHashSecret.factor;
      const uint64_t mode = uint64_t{modes.known} << 16 | modes.bits;
      return ea ^ std::rotl(page * factor, 32) ^ std::rotl(mode * factor, 16);
    }
  };
  // The words of an instruction. Values without their flag keep stale contents.
  struct Words {
    uint32_t opcode = 0;
    uint32_t prefix = 0;
    uint32_t flags = ~uint32_t{0};  // which of the two exist; the default: of no instruction
    bool operator==(const Words&) const = default;
  };
  // An instruction of a block.
  struct Known {
    Words words;
    uint32_t texts = 0;  // offset in texts_
  };
  struct Block {
    Key key;
    std::array<Known, kBlockInstructions> known;
  };
  // The texts begin with their sizes.
  struct Sizes {
    uint32_t line = 0;
    uint32_t inlined = 0;
  };
  struct SecretHash {
    size_t operator()(uint64_t key) const { return secret_place(key, size_t{1} << 62); }
  };

  static constexpr size_t kFirstSlots = 1 << 10;  // a power of two, like every size
  // Half of the slots are used. The code of a busy program: 2 MiB in 9 MiB of memory.
  static constexpr size_t kMostBlocks = 1 << 15;
  static constexpr size_t kMostBytes = 16 << 20;  // of texts, with the elements of by_begin_
  static constexpr uint32_t kNoTexts = 0;         // the offset of two empty texts

  static Key key_of(const Instruction& instruction) {
    return {.ea = instruction.ea.value & ~kOffsetBits,
            .page = instruction.has_la ? instruction.la.value & ~(SymbolCursor::kPageBytes - 1)
                                       : kNoPage,
            .modes = instruction.modes};
  }
  static Words words_of(const Instruction& instruction) {
    return {.opcode = instruction.has_opcode ? instruction.opcode : 0,
            .prefix = instruction.has_prefix ? instruction.prefix : 0,
            .flags = uint32_t{instruction.has_opcode} | uint32_t{instruction.has_prefix} << 1};
  }
  static size_t index_of(const Instruction& instruction) {
    return instruction.ea.value / 4 % kBlockInstructions;
  }
  Texts texts_at(uint32_t offset) const {
    Sizes sizes;
    const char* const begin = texts_.data() + offset;
    std::memcpy(&sizes, begin, sizeof sizes);
    return {.line = {begin + sizeof sizes, sizes.line},
            .inlined = {begin + sizeof sizes + sizes.line, sizes.inlined}};
  }
  void choose_block(const Key& key);
  size_t slot_of(const Key& key) const;
  void grow();
  void clear();
  Texts find(const Instruction& instruction);
  uint32_t add_texts(bool proven);

  std::optional<SymbolCursor> cursor_;
  SourceFiles* files_;
  Write line_;
  Write inlined_;
  std::vector<Block> blocks_;    // the first one is the block of no instruction
  std::vector<uint32_t> slots_;  // indexes of blocks_ by key; 0: free
  size_t current_ = 0;           // the block of the last instruction
  std::string texts_;
  // Offsets of texts by the first address that has them.
  std::unordered_map<uint64_t, uint32_t, SecretHash> by_begin_;
  std::vector<SourceFrame> frames_;
};

}  // namespace htmtrace
