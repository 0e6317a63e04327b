// SPDX-License-Identifier: GPL-2.0-or-later
// Instructions of a program that is known by construction, for sinks of a core decoder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "core/core_trace/events.h"
#include "tests/generator/generated_trace.h"

namespace htmtrace {

inline constexpr uint32_t kNop = 0x60000000;
inline constexpr uint32_t kBl = 0x48000001;   // bl; the next instruction shows its target
inline constexpr uint32_t kBlr = 0x4e800020;  // blr

// Encodes b at one address to another address.
inline uint32_t jump(uint64_t from, uint64_t to) {
  return 0x48000000 | (static_cast<uint32_t>(to - from) & 0x03fffffc);
}
inline uint32_t call(uint64_t from, uint64_t to) {
  return jump(from, to) | 1;
}

inline Instruction one(uint64_t ea, uint32_t opcode) {
  Instruction instruction;
  instruction.ea = {ea};
  instruction.opcode = opcode;
  instruction.has_ea = instruction.has_opcode = true;
  return instruction;
}

// Runs consecutive instructions from `ea` on.
template <class Sink>
void run(Sink& sink, uint64_t ea, std::initializer_list<uint32_t> opcodes) {
  for (const uint32_t opcode : opcodes) {
    sink.instruction(one(ea, opcode));
    ea += 4;
  }
}

// Runs a random program of `places` instructions at 0x1000, with gaps and instructions without an
// address. word_at(address, choice) returns the word at an address; `choice` is below 100. Calls
// take(part) after every `most` events, and at the end.
template <class Part, class WordAt, class Take>
void run_in_parts(Part& part, size_t most, uint64_t places, const WordAt& word_at,
                  const Take& take) {
  generator::Random random(7);
  uint64_t ea = 0x1000;
  for (size_t i = 0; i < 20000; i++) {
    const uint64_t choice = random.below(100);
    if (choice < 2) {
      part.defect({});
    } else if (choice < 4) {
      part.instruction(Instruction());
    } else {
      part.instruction(one(ea, word_at(ea, choice)));
      ea = choice < 70 ? ea + 4 : 0x1000 + random.below(places) * 4;
    }
    if (i % most == most - 1) take(part);
  }
  take(part);
}

}  // namespace htmtrace
