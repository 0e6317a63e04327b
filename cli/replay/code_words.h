// SPDX-License-Identifier: GPL-2.0-or-later
// The instruction words that a trace executed, by effective address: the code memory of a replay.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/base/hot_table.h"
#include "core/core_trace/events.h"

namespace htmtrace {

class CodeWords {
 public:
  // The words of further addresses are dropped. A row has 25 bytes, and at most half of the rows
  // are in use, so the table has 53 MB. While it grows, it needs up to 92 MB.
  static constexpr size_t kMostWords = 1 << 20;

  // `order` is the byte order of instructions whose mode is unknown.
  explicit CodeWords(std::endian order) : order_(order), words_(kMostWords) {}

  // Remembers the words of the instruction, if its address and its opcode are known.
  void add(const Instruction& instruction);

  // The byte at `address`, if it is known. Different words at one address, for example of two
  // programs, make all bytes of the word unknown.
  std::optional<uint8_t> byte_at(uint64_t address) const;

  // The byte at `address`, if it belongs to this instruction. Ignores all other instructions.
  std::optional<uint8_t> byte_of(const Instruction& instruction, uint64_t address) const;

 private:
  static constexpr uint64_t kWordBytes = 4;

  struct Word {
    uint32_t word = 0;
    bool little = false;
    bool ambiguous = false;
    uint64_t count = 0;  // 0: new
  };

  bool is_little(const Instruction& instruction) const;
  void add_word(uint64_t address, uint32_t word, bool little);
  static uint8_t byte_in(uint32_t word, bool little, uint64_t address);

  std::endian order_;
  HotTable<Word> words_;
};

}  // namespace htmtrace
