// SPDX-License-Identifier: GPL-2.0-or-later
// How fast a core got on, over its instructions, in constant memory: windows of as many
// instructions each, which double when there are more than are kept.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/core_events.h"
#include "core/selection.h"

namespace htmtrace {

// A sink for CoreDecoder behind a SelectingSink, which tells it the place. Of one trace.
class Timeline {
 public:
  struct Window {
    uint64_t ticks = 0;     // that the stamps have told, of all instructions
    uint64_t reported = 0;  // instructions that were selected; of them:
    std::array<uint64_t, kPrivileges> by_privilege{};
    uint64_t data_accesses = 0;
    uint64_t losses = 0;  // stamps that tell of any
  };

  // Of the ticks that are shared out, those before the selection have their part.
  static constexpr Lead kLead = Lead::kTicks;

  // Keeps between half of so many windows and all of them, when the trace has as many instructions.
  explicit Timeline(size_t most_windows) : most_windows_(most_windows) {}

  void at(const TracePlace& place) {
    if (place.ticks != ticks_) [[unlikely]]
      elapsed(place);
    number_ = place.instructions;
  }
  void instruction(const Instruction& instruction) {
    Window& window = window_here();
    window.reported++;
    window.by_privilege.at(static_cast<size_t>(privilege_of(instruction.modes)))++;
    window.data_accesses += instruction.data_count;
  }
  void stamp(const Stamp& stamp) {
    if (stamp.losses.any() && !windows_.empty()) window_here().losses++;
  }
  void defect(const Defect&) {}

  // Of the trace: number of the first instruction of the first window; from there on they are
  // window_instructions() each, but the last.
  uint64_t first() const { return first_; }
  uint64_t window_instructions() const { return uint64_t{1} << shift_; }
  // How many the trace has in that window, selected or not. When the trace has ended.
  uint64_t instructions_of(size_t window) const;
  const std::vector<Window>& windows() const { return windows_; }
  // Between the begin of the first window and the last stamp that tells the time.
  uint64_t ticks() const;

 private:
  static constexpr unsigned kLeastShift = 10;

  Window& window_here();
  void elapsed(const TracePlace& place);
  void join_windows();

  size_t most_windows_;
  unsigned shift_ = kLeastShift;
  uint64_t first_ = 0;
  uint64_t number_ = 0;  // of the instruction at hand, or how many there were
  uint64_t ticks_ = 0;   // up to the last stamp that told any,
  uint64_t since_ = 0;   // which stood before this instruction
  std::vector<Window> windows_;
};

}  // namespace htmtrace
