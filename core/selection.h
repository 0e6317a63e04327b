// SPDX-License-Identifier: GPL-2.0-or-later
// Which instructions of a core trace are wanted. What one condition names are alternatives; all
// conditions that are given must hold. What the trace does not tell fulfils no condition.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/core_events.h"
#include "core/instruction_class.h"
#include "core/modes.h"

namespace htmtrace {

// Both ends belong to it.
struct AddressRange {
  uint64_t first = 0;
  uint64_t last = 0;
  bool holds(uint64_t address) const { return address - first <= last - first; }
};

struct Selection {
  static constexpr uint64_t kAny = std::numeric_limits<uint64_t>::max();
  using Ranges = std::vector<AddressRange>;

  // Of the instruction, and of any of its data accesses. Empty: every address, also none.
  Ranges ea, ra, la;
  Ranges data_ea, data_ra, data_la;

  uint32_t privileges = 0;  // bit 1 << Privilege; 0: all
  uint32_t classes = 0;     // bit 1 << InstructionClass; 0: all

  // The number of the instruction in the trace, from 0.
  AddressRange numbers{0, kAny};
  // Ticks that the stamps before the instruction have told since the trace began.
  AddressRange ticks{0, kAny};
  // Behind the first MARK of one value, up to the next of the other.
  std::optional<unsigned> from_mark, to_mark;

  uint64_t every = 1;     // the first of so many
  uint64_t first = kAny;  // at most so many
  uint64_t last = kAny;   // of all that is left, only so many from the end

  // Nothing is left out.
  bool everything() const;
};

// What must be read of what comes before that which is selected.
enum class Lead : uint8_t {
  kNone,
  kTicks,  // the last stamp that told any
  kAll,    // everything
};

// How far a trace has come.
struct TracePlace {
  uint64_t instructions = 0;
  uint64_t ticks = 0;
  bool operator==(const TracePlace&) const = default;
};

// Follows one trace and decides instruction by instruction, without looking ahead; `last` is left
// to the caller.
class Selector {
 public:
  // `selection` must outlive it.
  explicit Selector(const Selection& selection);

  // What comes first is not the begin of the trace, but this; nothing before it was selected.
  void begin_at(const TracePlace& place);

  bool take(const Instruction& instruction) {
    const bool numbered = selection_.numbers.holds(number_++);
    if (!numbered || !open_ || !matches(instruction)) return false;
    if (skip_ != 0) {
      skip_--;
      return false;
    }
    skip_ = selection_.every - 1;
    taken_++;
    return true;
  }

  // Whether the stamp lies in the window of time, too, and between numbers of it.
  bool take(const Stamp& stamp);

  // Of the next instruction.
  TracePlace place() const { return {number_, ticks_}; }

  // The number of selected instructions.
  uint64_t taken() const { return taken_; }

  // Nothing that follows will be taken.
  bool satisfied() const {
    return taken_ >= selection_.first || window_over_ || number_ > selection_.numbers.last;
  }

 private:
  bool matches(const Instruction& instruction) const;

  const Selection& selection_;
  uint64_t number_ = 0;  // of the next instruction
  uint64_t ticks_ = 0;
  uint64_t skip_ = 0;
  uint64_t taken_ = 0;
  bool between_marks_ = false;
  bool marks_over_ = false;
  bool open_ = false;         // within the window of time
  bool window_over_ = false;  // and behind it
};

}  // namespace htmtrace
