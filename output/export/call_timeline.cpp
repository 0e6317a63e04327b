// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/export/call_timeline.h"

#include <algorithm>
#include <utility>

#include "output/export/trace_events.h"
#include "output/io/shares.h"
#include "output/report/timeline_report.h"

namespace htmtrace {
namespace {

constexpr size_t kMostWindows = 4096;
// Reserved for the ends of open functions, and for the windows of a trace, which take two events
// each.
constexpr uint64_t kReserveBytes = 4 << 20;
// The only track of a trace that shows functions.
constexpr int kFunctions = 1;

}  // namespace

CallTimeline::CallTimeline(TextOutput& output, CallStacks stacks)
    : output_(output), stacks_(std::move(stacks)), windows_(kMostWindows) {
  stacks_.keep_nodes();
  begin_trace_events(json_);
}

// Begins an event on a new line. put_event() ends it.
void CallTimeline::begin_event(std::string_view phase, std::optional<int> thread) {
  json_.new_line();
  htmtrace::begin_event(json_, phase, trace_, thread);
}

void CallTimeline::put_event() {
  json_.end_object();
  put();
}

void CallTimeline::put() {
  const std::string text = json_.take_part();
  output_.put(text);
  bytes_ += text.size();
}

void CallTimeline::begin_trace(const std::string& name) {
  trace_++;
  json_.new_line();
  put_name(json_, "process_name", trace_, {}, name);
  json_.new_line();
  put_name(json_, "thread_name", trace_, kFunctions, "functions, an instruction is 1 ns");
  put();
  windows_ = Timeline(kMostWindows);
  full_from_.reset();
  end_ = 0;
  stacks_.begin_trace();
  moves_.clear();
  here_ = CallStacks::kRoot;
}

void CallTimeline::end_trace() {
  put_functions();
  put_windows();
}

void CallTimeline::finish() {
  json_.new_line();
  end_trace_events(json_);
  output_.put(json_.take());
}

// Records that control reached another function, or another call of the same function.
void CallTimeline::move() {
  here_ = stacks_.here();
  if (full_from_) return;
  if (moves_.size() == kMostMoves) {
    full_from_ = number_;
    moves_.push_back({.when = number_});
    return;
  }
  moves_.push_back({.when = number_, .node = here_});
}

void CallTimeline::put_functions() {
  for (const Move& move : moves_) {
    if (bytes_ > kMostBytes - kReserveBytes) {
      full_from_ = move.when;
      return close_down_to(0, move.when);
    }
    show(move);
  }
  close_down_to(0, end_);
}

void CallTimeline::show(const Move& move) {
  const CallTree& tree = stacks_.tree();
  path_.clear();
  for (CallTree::Node node = tree.visible(move.node); node != CallTree::kRoot;
       node = tree.outer(node)) {
    path_.push_back(node);
  }
  std::ranges::reverse(path_);
  const auto [different, unused] = std::ranges::mismatch(open_, path_);
  const auto same = static_cast<size_t>(different - open_.begin());
  close_down_to(same, move.when);
  for (size_t i = same; i < path_.size(); i++) open(path_[i], move.when);
}

void CallTimeline::open(CallTree::Node node, uint64_t when) {
  open_.push_back(node);
  begin_event("B", kFunctions);
  json_.formatted("ts", decimal(when));
  json_.text("name", stacks_.tree().name(node));
  put_event();
}

void CallTimeline::close_down_to(size_t depth, uint64_t when) {
  for (; open_.size() > depth; open_.pop_back()) {
    begin_event("E", kFunctions);
    json_.formatted("ts", decimal(when));
    put_event();
  }
}

// A value applies up to the next value.
void CallTimeline::put_windows() {
  const bool timed = windows_.ticks() != 0;
  for (size_t i = 0; i < windows_.windows().size(); i++) {
    const Timeline::Window& window = windows_.windows()[i];
    const std::string when = decimal(windows_.first() + i * windows_.window_instructions());
    if (const auto each = ticks_each(windows_, i); timed && each) {
      begin_counter(when, "ticks per instruction");
      json_.formatted("ticks", decimal(*each));
      end_counter();
    }
    const uint64_t user = window.by_privilege.at(static_cast<size_t>(Privilege::kUser));
    begin_counter(when, "instructions");
    json_.number("user", user);
    json_.number("others", window.reported - user);
    end_counter();
  }
}

void CallTimeline::begin_counter(std::string_view when, std::string_view name) {
  begin_event("C", {});
  json_.formatted("ts", when);
  json_.text("name", name);
  json_.begin_object("args");
}

void CallTimeline::end_counter() {
  json_.end_object();
  put_event();
}

}  // namespace htmtrace
