// SPDX-License-Identifier: GPL-2.0-or-later
// Selects instructions of a core trace. The values of one condition are alternatives; an
// instruction must satisfy all conditions. An unknown value satisfies no condition.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/core_trace/events.h"
#include "core/core_trace/instruction_class.h"
#include "core/core_trace/modes.h"
#include "core/core_trace/sink.h"

namespace htmtrace {

// Both ends are part of the range.
struct AddressRange {
  uint64_t first = 0;
  uint64_t last = 0;
  bool holds(uint64_t address) const { return address - first <= last - first; }
};

struct Selection {
  static constexpr uint64_t kAny = std::numeric_limits<uint64_t>::max();
  using Ranges = std::vector<AddressRange>;

  // Addresses of the instruction, and of any of its data accesses. Empty: all instructions,
  // including instructions without an address.
  Ranges ea, ra, la;
  Ranges data_ea, data_ra, data_la;

  // If true, the instruction (by_name) or one of its data accesses (data_by_name) must have a
  // selected name. The caller passes the result of this comparison as a NameMatch.
  bool by_name = false;
  bool data_by_name = false;
  // If true, the instruction must belong to a selected process (NameMatch::process).
  bool by_process = false;

  uint32_t privileges = 0;  // bit 1 << Privilege; 0: all
  uint32_t classes = 0;     // bit 1 << InstructionClass; 0: all

  // The number of the instruction in the trace, counted from 0.
  AddressRange numbers{0, kAny};
  // The sum of the ticks in all earlier stamps of the trace.
  AddressRange ticks{0, kAny};
  // From the first MARK with one value to the next MARK with the other value.
  std::optional<unsigned> from_mark, to_mark;

  uint64_t every = 1;     // the first of each `every` matching instructions
  uint64_t first = kAny;  // maximum number of instructions
  uint64_t last = kAny;   // the last `last` of the remaining instructions

  // The selection has no condition.
  bool everything() const;
  // The selection has conditions on the position in the trace: numbers, ticks, marks or `first`.
  bool has_places() const;
  // Selectors of the parts of a trace can apply the selection (Selector::follow()).
  bool has_parts() const { return !by_process && every == 1 && last == kAny; }
};

// Whether an instruction and its data accesses have selected names, and whether the instruction
// belongs to a selected process.
struct NameMatch {
  bool code = true;
  bool process = true;
  unsigned data = ~0U;  // bit 1 << i: access i
};

// Decides for each instruction of a trace in order, without lookahead. The caller implements
// `last`.
//
// Several selectors can also decide for parts of the trace at the same time, before the positions
// of the parts are known: start_inside(), can_follow(), follow().
class Selector {
 public:
  // `selection` must outlive the selector.
  explicit Selector(const Selection& selection);

  // Starts at `place` instead of the start of the trace. Nothing before `place` may be selected.
  void begin_at(const TracePlace& place);

  // Starts a part at an unknown position. Assumes that all events of the part satisfy the
  // conditions on positions (`open`), or that no event does. Requires selection.has_parts().
  void start_inside(bool open);
  // Whether the assumption of start_inside() is right. `earlier` has selected up to this part.
  // Returns false if this is uncertain.
  bool can_follow(const Selector& earlier) const;
  // Continues as if this selector had selected from the start of the trace. Requires can_follow().
  void follow(const Selector& earlier);
  // The next event may satisfy the conditions on positions.
  bool is_open() const { return open_ && number_ >= numbers_.first; }

  bool take(const Instruction& instruction, NameMatch names = {}) {
    const bool numbered = numbers_.holds(number_++);
    // A caller that held instructions may pass them after satisfied() returns true.
    if (taken_ >= first_) [[unlikely]]
      return false;
    if (!numbered || !open_ || !matches(instruction, names)) return false;
    if (skip_ != 0) {
      skip_--;
      return false;
    }
    skip_ = selection_.every - 1;
    taken_++;
    return true;
  }

  // If true, the caller may call take_next() instead of take(instruction).
  bool takes_everything() const { return everything_; }
  void take_next() {
    number_++;
    taken_++;
  }

  // The stamp lies in the selected time window and number range.
  bool take(const Stamp& stamp);

  // The position of the next instruction.
  TracePlace place() const { return {number_, ticks_}; }

  // The number of selected instructions.
  uint64_t taken() const { return taken_; }

  // No later instruction can be selected.
  bool satisfied() const {
    return !everything_ && (taken_ >= first_ || window_over_ || number_ > numbers_.last);
  }

 private:
  bool matches(const Instruction& instruction, NameMatch names) const;
  bool is_edge(const Stamp& stamp) const {
    return stamp.kind == StampKind::kMark &&
           (selection_.from_mark == stamp.mark.value || selection_.to_mark == stamp.mark.value);
  }

  const Selection& selection_;
  const bool everything_;
  // The limits of the selection. inside_: no limits.
  AddressRange numbers_;
  uint64_t first_;
  bool inside_ = false;       // between start_inside() and follow()
  bool edge_inside_ = false;  // the part has one of the selection's marks
  uint64_t number_ = 0;       // number of the next instruction; inside_: in the part
  uint64_t ticks_ = 0;        // inside_: in the part
  uint64_t skip_ = 0;
  uint64_t taken_ = 0;
  bool between_marks_ = false;
  bool marks_over_ = false;
  bool open_ = false;         // inside the time window; inside_: the assumption
  bool window_over_ = false;  // after the time window
};

}  // namespace htmtrace
