// SPDX-License-Identifier: GPL-2.0-or-later
// Passes the selected events from a decoder to a printer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "core/analysis/name_selection.h"
#include "core/analysis/process_follower.h"
#include "core/core_trace/events.h"
#include "core/core_trace/radix_walk.h"
#include "core/core_trace/sink.h"
#include "core/selection/process_selection.h"
#include "core/selection/selection.h"

namespace htmtrace {

// core/core_trace/sink.h lists the members of `Next`.
template <CoreSink Next>
class SelectingSink {
 public:
  // All arguments must outlive this object. `names` is required for a selection by name.
  SelectingSink(const Selection& selection, Next& next, const NameSelection* names = nullptr)
      : selection_(selection), selector_(selection), next_(next) {
    if (names != nullptr) names_.emplace(*names);
  }
  SelectingSink(const SelectingSink&) = delete;
  SelectingSink& operator=(const SelectingSink&) = delete;

  // Finds the process of each instruction. Call it before the first event. `owners` must outlive
  // this object. `processes` is required for a selection by process.
  void find_processes(const PageOwners& owners, ProcessSelection processes = {}) {
    follower_.emplace(owners);
    processes_ = std::move(processes);
    is_of_process_ = processes_.holds(*process_);
  }

  void begin_at(const TracePlace& place) { selector_.begin_at(place); }

  // For a part of the trace; see Selector. After start_inside(), `Next` receives positions in the
  // part. After follow(), it receives positions in the trace.
  void start_inside(bool open) { selector_.start_inside(open); }
  bool can_follow(const SelectingSink& earlier) const {
    return selector_.can_follow(earlier.selector_);
  }
  void follow(const SelectingSink& earlier) { selector_.follow(earlier.selector_); }
  bool is_open() const { return selector_.is_open(); }
  // The position of the next instruction.
  TracePlace place() const { return selector_.place(); }

  [[gnu::always_inline]] void instruction(const Instruction& instruction) {
    if (follower_) [[unlikely]]
      return follow(instruction);
    choose(instruction);
  }

  void stamp(const Stamp& stamp) {
    if (follower_) [[unlikely]]
      return follower_->stamp(stamp, followed_);
    choose(stamp);
  }

  // Walks belong to the instruction that follows them. If only the last instructions are requested,
  // their walks cannot be identified yet, and no walk is selected.
  void walk(const Walk& walk) {
    if (follower_) [[unlikely]]
      return follower_->walk(walk, followed_);
    walks_.push_back(walk);
  }

  void defect(const Defect& defect) {
    if (follower_) [[unlikely]]
      return follower_->defect(defect, followed_);
    next_.defect(defect);
  }

  uint64_t selected() const { return std::min(selector_.taken(), selection_.last); }
  // ProcessFollower::contradictions()
  uint64_t contradictions() const { return follower_ ? follower_->contradictions() : 0; }

  bool satisfied() const { return selector_.satisfied(); }

  // Call this at the end of the trace, or of a part of it. Passes on the held instructions and the
  // end position.
  void finish() {
    if (follower_) follower_->finish(followed_);
    pass_walks(selection_.everything());  // of an instruction that never arrived
    if constexpr (HasAt<Next>) next_.at(selector_.place());
    for (size_t i = 0; i < kept_.size(); i++) {
      const Kept& kept = kept_[(oldest_ + i) % kept_.size()];
      if constexpr (HasProcess<Next>) next_.process(*kept.process);
      next_.instruction(kept.instruction);
    }
    kept_.clear();
  }

 private:
  // Receives the events from the follower.
  struct Followed {
    SelectingSink& sink;
    void process(const Process& process) { sink.become(process); }
    void instruction(const Instruction& instruction) { sink.choose(instruction); }
    void stamp(const Stamp& stamp) { sink.choose(stamp); }
    void walk(const Walk& walk) { sink.walks_.push_back(walk); }
    void defect(const Defect& defect) { sink.next_.defect(defect); }
  };
  // One of the last instructions, if only these are requested.
  struct Kept {
    Instruction instruction;
    const Process* process;
  };

  [[gnu::noinline]] void follow(const Instruction& instruction) {
    follower_->instruction(instruction, followed_);
  }

  void become(const Process& process) {
    process_ = &process;
    is_of_process_ = processes_.holds(process);
    if constexpr (HasProcess<Next>) next_.process(process);
  }

  [[gnu::always_inline]] void choose(const Instruction& instruction) {
    if constexpr (HasAt<Next>) next_.at(selector_.place());
    if (!selector_.takes_everything()) return select(instruction);
    selector_.take_next();
    if (!walks_.empty()) [[unlikely]]
      pass_walks(true);
    next_.instruction(instruction);
  }

  void choose(const Stamp& stamp) {
    if (selector_.take(stamp)) {
      next_.stamp(stamp);
    } else if constexpr (HasUnselected<Next, Stamp>) {
      next_.unselected(stamp);
    }
  }

  void select(const Instruction& instruction) {
    NameMatch match = names_ ? names_->match(instruction) : NameMatch();
    match.process = is_of_process_;
    const bool wanted = selector_.take(instruction, match);
    if (!walks_.empty()) [[unlikely]] {
      pass_walks(wanted);
    }
    if (!wanted) {
      if constexpr (HasUnselected<Next, Instruction>) {
        next_.unselected(instruction);
      } else if constexpr (HasSkipped<Next>) {
        next_.skipped();
      }
      return;
    }
    if (selection_.last == Selection::kAny) {
      next_.instruction(instruction);
    } else {
      keep(instruction);
    }
  }

  void pass_walks(bool wanted) {
    if constexpr (HasWalk<Next>) {
      wanted = wanted && selection_.last == Selection::kAny;
      for (const Walk& walk : walks_) {
        if (wanted) {
          next_.walk(walk);
        } else if constexpr (HasUnselected<Next, Walk>) {
          next_.unselected(walk);
        }
      }
    }
    walks_.clear();
  }

  void keep(const Instruction& instruction) {
    if (kept_.size() < selection_.last) {
      kept_.push_back({instruction, process_});
    } else if (!kept_.empty()) {
      kept_[oldest_] = {instruction, process_};
      oldest_ = (oldest_ + 1) % kept_.size();
    }
  }

  const Selection& selection_;
  Selector selector_;
  std::optional<NameSelector> names_;
  Next& next_;
  std::vector<Walk> walks_;
  std::vector<Kept> kept_;  // a ring
  size_t oldest_ = 0;
  std::optional<ProcessFollower> follower_;
  ProcessSelection processes_;
  const Process* process_ = &Process::unknown();  // of the current instruction
  bool is_of_process_ = true;
  Followed followed_{*this};
};

}  // namespace htmtrace
