// SPDX-License-Identifier: GPL-2.0-or-later
// Shows the speed of a core over its instructions in constant memory. All windows have the same
// number of instructions. The number doubles when the windows exceed their limit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/analysis/timeline_part.h"
#include "core/core_trace/events.h"
#include "core/core_trace/sink.h"

namespace htmtrace {

// A sink for CoreDecoder that follows a SelectingSink, which sets the position. Accepts one trace.
// Several threads can collect its events in parts.
class Timeline {
 public:
  using Part = TimelinePart;

  struct Window {
    uint64_t ticks = 0;     // ticks from the stamps, for all instructions
    uint64_t reported = 0;  // selected instructions; the next two members count among them
    std::array<uint64_t, kPrivileges> by_privilege{};
    uint64_t data_accesses = 0;
    uint64_t losses = 0;  // stamps that report a loss
  };

  // Ticks spread over all instructions since the last stamp, including instructions before the
  // selection.
  static constexpr Lead kLead = Lead::kTicks;

  // Keeps at least half of `most_windows` windows if the trace has enough instructions.
  explicit Timeline(size_t most_windows) : most_windows_(most_windows) {}

  void at(const TracePlace& place) {
    if (place.ticks != ticks_) [[unlikely]]
      elapsed(place);
    number_ = place.instructions;
  }
  void instruction(const Instruction& instruction) {
    count(window_here(), {privilege_of(instruction.modes), instruction.data_count});
  }
  void stamp(const Stamp& stamp) {
    if (stamp.losses.any()) count_loss();
  }
  void defect(const Defect&) {}

  TimelinePart new_part() const { return {}; }
  // Adds the events of the part, and clears it. Positions in the part count from `base`.
  void take(TimelinePart& part, const TracePlace& base);
  // Call finish() after the last take().
  void finish() {
    if (end_) at(*end_);
  }

  // The number of the trace's first instruction in the first window. Each window except the last
  // has window_instructions() instructions.
  uint64_t first() const { return first_; }
  uint64_t window_instructions() const { return uint64_t{1} << shift_; }
  // The number of the trace's instructions in the window, selected or not. Valid after the end of
  // the trace.
  uint64_t instructions_of(size_t window) const;
  const std::vector<Window>& windows() const { return windows_; }
  // Ticks from the start of the first window to the last stamp with ticks.
  uint64_t ticks() const;

 private:
  static constexpr unsigned kLeastShift = 10;

  static void count(Window& window, TimelinePart::Seen seen) {
    window.reported++;
    window.by_privilege[static_cast<size_t>(seen.privilege)]++;
    window.data_accesses += seen.data_accesses;
  }
  void count_loss() {
    if (!windows_.empty()) window_here().losses++;
  }
  void count_run(uint64_t number, std::span<const TimelinePart::Seen> run);
  Window& window_here();
  void elapsed(const TracePlace& place);
  void join_windows();

  size_t most_windows_;
  unsigned shift_ = kLeastShift;
  uint64_t first_ = 0;
  uint64_t number_ = 0;  // number of the current instruction, or of all instructions at the end
  uint64_t ticks_ = 0;   // ticks up to the last stamp with ticks
  uint64_t since_ = 0;   // number of the instruction after that stamp
  std::optional<TracePlace> end_;  // end of the last part
  std::vector<Window> windows_;
};

}  // namespace htmtrace
