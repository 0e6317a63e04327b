// SPDX-License-Identifier: GPL-2.0-or-later
// Measures the passages of a core trace from one code location to another. A passage starts when
// the first location executes, and ends when the second location executes next. If the first
// location executes again, the passage starts again. htmtrace-report(1), PASSAGES.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "core/analysis/control_flow.h"
#include "core/analysis/name_selection.h"
#include "core/core_trace/events.h"
#include "core/core_trace/sink.h"

namespace htmtrace {

// The lengths of passages, in instructions or ticks.
struct PassageLengths {
  // Element 0 counts the lengths of 0. Element i counts the lengths from 2^(i-1) to 2^i - 1.
  static constexpr size_t kDoublings = 65;
  using Doublings = std::array<uint64_t, kDoublings>;

  Doublings exact{};
  Doublings at_least{};  // lower bounds
  uint64_t count = 0;    // this and the following members: of exact lengths only
  uint64_t sum = 0;
  uint64_t least = std::numeric_limits<uint64_t>::max();
  uint64_t most = 0;

  void add(uint64_t length, bool is_exact) {
    const auto place = static_cast<size_t>(std::bit_width(length));
    if (!is_exact) {
      at_least[place]++;
      return;
    }
    exact[place]++;
    count++;
    sum += length;
    least = std::min(least, length);
    most = std::max(most, length);
  }
};

// The instructions of a passage, by their numbers in the trace.
struct PassagePlace {
  uint64_t begin = 0;   // the first instruction
  uint64_t end = 0;     // the instruction that ended the passage
  uint64_t trace = 0;   // in the order of reading, from 0
  uint64_t length = 0;  // in instructions or ticks
};

// A code location, which can have several addresses.
struct CodePlace {
  SymbolSet starts;
  // Local entries of functions. If execution reaches a local entry from the start without a branch,
  // this is not another execution of the function. OpenPOWER ELF V2 ABI, 3.4.1.
  SymbolSet local_entries;
};

// A sink for CoreDecoder that follows a SelectingSink, which calls at(). Accepts several
// traces. Only selected instructions count, and only they begin and end passages.
class Passages {
 public:
  // Decoding must start at a stamp, so that the time of the first selected instruction is exact.
  static constexpr Lead kLead = Lead::kTicks;

  // All arguments must outlive this object.
  Passages(const SymbolTable& symbols, const CodePlace& from, const CodePlace& to)
      : cursor_(symbols), from_(symbols, from), to_(symbols, to) {}

  void at(const TracePlace& place);
  void instruction(const Instruction& instruction);
  void unselected(const Instruction& instruction) { pass(instruction); }
  void stamp(const Stamp& stamp);
  void unselected(const Stamp& stamp) { this->stamp(stamp); }
  void defect(const Defect&) { cut(); }
  // Call this at the end of each trace.
  void end_trace();

  const PassageLengths& instructions() const { return instructions_; }
  const PassageLengths& ticks() const { return ticks_; }
  // The first of the complete passages with most instructions, and the first of those with most
  // ticks, whose length can be a lower bound. Empty before the first.
  const std::optional<PassagePlace>& most_instructions() const { return most_instructions_; }
  const std::optional<PassagePlace>& most_ticks() const { return most_ticks_; }
  uint64_t passages() const { return instructions_.count; }
  // Passages that a loss, a defect, a pause or the end of the trace cut short. Their lengths are
  // lower bounds.
  uint64_t cut_passages() const { return cut_; }
  uint64_t begun_again() const { return begun_again_; }
  uint64_t begins() const { return begins_; }
  uint64_t ends() const { return ends_; }

 private:
  // Recognizes the executions of a code location.
  class Place {
   public:
    Place(const SymbolTable& symbols, const CodePlace& place)
        : starts_(symbols, place.starts, true), local_(symbols, place.local_entries, true) {}
    // `falls`: the instruction follows its predecessor without a branch.
    bool runs_at(EffectiveAddr address, bool falls) {
      return starts_.find(address) != nullptr || (!falls && local_.find(address) != nullptr);
    }

   private:
    SymbolFollower starts_;
    SymbolFollower local_;
  };

  struct Open {
    uint64_t instructions = 0;  // selected instructions that precede the passage
    uint64_t number = 0;        // of the first instruction in the trace
    // The latest possible time of the start of the passage. Empty until a stamp follows.
    std::optional<uint64_t> ticks;
    bool exact = false;  // a stamp directly precedes the first instruction
  };

  void pass(const Instruction& instruction);
  void end_passage();
  void cut();
  uint64_t ticks_since_begin() const {
    return open_->ticks && now_ > *open_->ticks ? now_ - *open_->ticks : 0;
  }

  SymbolCursor cursor_;
  Place from_;
  Place to_;
  std::optional<Open> open_;
  uint64_t selected_ = 0;  // selected instructions so far
  uint64_t number_ = 0;    // of the current instruction in the trace
  uint64_t trace_ = 0;
  uint64_t now_ = 0;         // ticks up to the last stamp
  bool stamped_ = false;     // a stamp with ticks follows the last instruction
  bool overflowed_ = false;  // the ticks since the start of the passage are incomplete
  uint64_t next_ea_ = 0;     // address that follows the last instruction
  PassageLengths instructions_;
  PassageLengths ticks_;
  std::optional<PassagePlace> most_instructions_, most_ticks_;
  uint64_t cut_ = 0;
  uint64_t begun_again_ = 0;
  uint64_t begins_ = 0;
  uint64_t ends_ = 0;
};

}  // namespace htmtrace
