// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/replay/code_words.h"

namespace htmtrace {

bool CodeWords::is_little(const Instruction& instruction) const {
  if ((instruction.modes.known & Modes::kLe) != 0) return instruction.modes.is(Modes::kLe);
  return order_ == std::endian::little;
}

void CodeWords::add(const Instruction& instruction) {
  if (!instruction.has_ea || !instruction.has_opcode) return;
  const bool little = is_little(instruction);
  const uint64_t ea = instruction.ea.value;
  if (!instruction.has_prefix) return add_word(ea, instruction.opcode, little);
  add_word(ea, instruction.prefix, little);
  add_word(ea + kWordBytes, instruction.opcode, little);
}

void CodeWords::add_word(uint64_t address, uint32_t word, bool little) {
  // A full table would drop rows, and so forget which rows are ambiguous.
  if (words_.size() >= kMostWords && words_.row_at(words_.place_of(address)) == nullptr) return;
  Word& known = words_.at(address);
  if (known.count == 0) {
    known = {.word = word, .little = little, .ambiguous = false, .count = 1};
  } else if (known.word != word || known.little != little) {
    known.ambiguous = true;
  }
}

// An instruction word in big-endian order has its most significant byte at the lowest address.
uint8_t CodeWords::byte_in(uint32_t word, bool little, uint64_t address) {
  constexpr unsigned kByteBits = 8;
  const auto place = static_cast<unsigned>(address % kWordBytes);
  const unsigned shift = little ? place : kWordBytes - 1 - place;
  return static_cast<uint8_t>(word >> (shift * kByteBits));
}

std::optional<uint8_t> CodeWords::byte_at(uint64_t address) const {
  const Word* const known = words_.row_at(words_.place_of(address & ~(kWordBytes - 1)));
  if (known == nullptr || known->ambiguous) return std::nullopt;
  return byte_in(known->word, known->little, address);
}

std::optional<uint8_t> CodeWords::byte_of(const Instruction& instruction, uint64_t address) const {
  if (!instruction.has_ea || !instruction.has_opcode) return std::nullopt;
  const uint64_t place = address - instruction.ea.value;
  const bool little = is_little(instruction);
  if (!instruction.has_prefix) {
    if (place >= kWordBytes) return std::nullopt;
    return byte_in(instruction.opcode, little, address);
  }
  if (place >= 2 * kWordBytes) return std::nullopt;
  const uint32_t word = place < kWordBytes ? instruction.prefix : instruction.opcode;
  return byte_in(word, little, address);
}

}  // namespace htmtrace
