// SPDX-License-Identifier: GPL-2.0-or-later
// Exports core traces as a timeline for Perfetto (ui.perfetto.dev) and chrome://tracing, in the
// JSON trace event format ("Trace Event Format", the Chromium project). Each trace has a track with
// nested function calls, and further tracks with the counts of a Timeline. The axis counts
// instructions, each shown as a nanosecond: stamps give no time for single instructions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/timeline.h"
#include "core/call_stacks/call_stacks.h"
#include "core/core_trace/sink.h"
#include "output/io/json_writer.h"
#include "output/io/text_output.h"

namespace htmtrace {

// A sink for CoreDecoder after a SelectingSink, which supplies the position.
class CallTimeline {
 public:
  static constexpr Lead kLead = CallStacks::kLead;

  // Viewers cannot load larger files.
  static constexpr uint64_t kMostBytes = 1'000'000'000;

  // `output` must outlive this object. `stacks` has not followed a trace.
  CallTimeline(TextOutput& output, CallStacks stacks);

  // Traces follow one after the other.
  void begin_trace(const std::string& name);
  void end_trace();
  void finish();

  void at(const TracePlace& place) {
    windows_.at(place);
    number_ = place.instructions;
  }
  void instruction(const Instruction& instruction) {
    windows_.instruction(instruction);
    stacks_.instruction(instruction);
    if (stacks_.here() != here_) [[unlikely]]
      move();
    end_ = number_ + 1;
  }
  void stamp(const Stamp& stamp) {
    windows_.stamp(stamp);
    stacks_.stamp(stamp);
  }
  void unselected(const Instruction& instruction) { stacks_.unselected(instruction); }
  void unselected(const Stamp& stamp) { stacks_.unselected(stamp); }
  void defect(const Defect& defect) { stacks_.defect(defect); }

  // The first instruction of the current trace for which the output had no room for functions.
  std::optional<uint64_t> full_from() const { return full_from_; }
  const CallStacks& stacks() const { return stacks_; }

 private:
  // The stack from this instruction on. Callers often become known later, so functions are written
  // at the end of the trace.
  struct Move {
    uint64_t when = 0;
    CallTree::Node node = CallTree::kRoot;
  };
  // Each move becomes an event of at least 50 bytes.
  static constexpr size_t kMostMoves = 1 << 24;

  void move();
  void put_functions();
  void show(const Move& move);
  void open(CallTree::Node node, uint64_t when);
  void close_down_to(size_t depth, uint64_t when);
  void put_windows();
  void begin_event(std::string_view phase, std::optional<int> thread);
  void put_event();
  void begin_counter(std::string_view when, std::string_view name);
  void end_counter();
  void put();

  TextOutput& output_;
  JsonWriter json_{JsonWriter::Layout::kCompact};
  CallStacks stacks_;
  Timeline windows_;
  uint64_t bytes_ = 0;
  std::optional<uint64_t> full_from_;
  int trace_ = 0;                          // number of the current trace
  uint64_t number_ = 0;                    // number of the current instruction
  uint64_t end_ = 0;                       // number after the last instruction that is shown
  CallTree::Node here_ = CallTree::kRoot;  // the stack of the current instruction
  std::vector<Move> moves_;
  std::vector<CallTree::Node> open_;  // the outermost is first
  std::vector<CallTree::Node> path_;  // the current stack; a member to reuse its memory
};

}  // namespace htmtrace
