// SPDX-License-Identifier: GPL-2.0-or-later
// The marker of `htmtrace locate`: a random sequence of instructions that no other program
// executes, and the search for it in a core trace.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "core/core_trace/events.h"

namespace htmtrace {

// Each word is `li` or `lis` (addi and addis without a source register) of a register from r4 to
// r11, which the ABI permits a function to change. A word has 20 random bits, so the sequence has
// 640. The words do not depend on each other, so that a processor has no reason to fuse two of
// them.
struct Marker {
  static constexpr size_t kWords = 32;
  std::array<uint32_t, kWords> words{};

  bool operator==(const Marker&) const = default;
};

// Returns markers that share no word. Each call of `random` returns 32 random bits.
std::vector<Marker> make_markers(size_t count, const std::function<uint32_t()>& random);

// Returns the code of a function of the 64-bit ELFv2 ABI, which runs the marker as often as its
// argument says: once or more. The words are in the processor's byte order.
std::vector<uint32_t> marker_function(const Marker& marker);

// Counts the passes of each marker in a core trace. Fulfills the contract of
// core/core_trace/sink.h.
class MarkerSearch {
 public:
  // The markers share no word, and outlive this object.
  explicit MarkerSearch(std::span<const Marker> markers);

  void instruction(const Instruction& instruction) {
    const bool plain = instruction.has_opcode && !instruction.has_prefix;
    if (plain && next_ != 0 && instruction.opcode == markers_[current_].words[next_]) {
      next_++;
      if (next_ == Marker::kWords) end_pass();
      return;
    }
    next_ = 0;
    if (plain && (instruction.opcode & kFixedBits) == kFixedValue) begin(instruction.opcode);
  }
  void stamp(const Stamp& /*stamp*/) {}
  // The trace may lack instructions here.
  void defect(const Defect& /*defect*/) { next_ = 0; }

  // The number of complete passes of the marker with this index.
  uint64_t passes(size_t marker) const { return passes_[marker]; }

 private:
  // The bits that all words of all markers have in common.
  static constexpr uint32_t kFixedBits = 0xf81f0000, kFixedValue = 0x38000000;

  void begin(uint32_t word);
  void end_pass();

  std::span<const Marker> markers_;
  std::vector<std::pair<uint32_t, size_t>> first_words_;  // sorted; with the marker's index
  std::vector<uint64_t> passes_;
  size_t current_ = 0;  // the marker whose pass is being followed
  size_t next_ = 0;     // the index of its next word; 0: no pass is being followed
};

}  // namespace htmtrace
