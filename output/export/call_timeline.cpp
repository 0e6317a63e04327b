// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/export/call_timeline.h"

#include <fmt/format.h>

#include <algorithm>

#include "output/io/json_writer.h"
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

CallTimeline::CallTimeline(TextOutput& output, const SymbolTable& symbols)
    : output_(output), stacks_(symbols), windows_(kMostWindows) {
  put(R"({"displayTimeUnit":"ns","traceEvents":[)");
}

void CallTimeline::put(std::string_view event) {
  output_.put(event);
  bytes_ += event.size();
}

void CallTimeline::begin_trace(const std::string& name) {
  trace_++;
  put(
      fmt::format("{}"
                  R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":{}}}}},)"
                  "\n"
                  R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":)"
                  R"("functions, an instruction is 1 ns"}}}})",
                  trace_ == 1 ? "\n" : ",\n", trace_, json_string(name), trace_, kFunctions));
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
  put("\n]}\n");
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
  put(
      fmt::format(",\n"
                  R"({{"ph":"B","pid":{},"tid":{},"ts":{},"name":{}}})",
                  trace_, kFunctions, decimal(when), json_string(stacks_.tree().name(node))));
}

void CallTimeline::close_down_to(size_t depth, uint64_t when) {
  for (; open_.size() > depth; open_.pop_back()) {
    put(
        fmt::format(",\n"
                    R"({{"ph":"E","pid":{},"tid":{},"ts":{}}})",
                    trace_, kFunctions, decimal(when)));
  }
}

// A value applies up to the next value.
void CallTimeline::put_windows() {
  const bool timed = windows_.ticks() != 0;
  for (size_t i = 0; i < windows_.windows().size(); i++) {
    const Timeline::Window& window = windows_.windows()[i];
    const std::string when = decimal(windows_.first() + i * windows_.window_instructions());
    if (const auto each = ticks_each(windows_, i); timed && each) {
      put(
          fmt::format(",\n"
                      R"({{"ph":"C","pid":{},"ts":{},"name":"ticks per instruction",)"
                      R"("args":{{"ticks":{}}}}})",
                      trace_, when, decimal(*each)));
    }
    const uint64_t user = window.by_privilege.at(static_cast<size_t>(Privilege::kUser));
    put(
        fmt::format(",\n"
                    R"({{"ph":"C","pid":{},"ts":{},"name":"instructions","args":)"
                    R"({{"user":{},"others":{}}}}})",
                    trace_, when, user, window.reported - user));
  }
}

}  // namespace htmtrace
