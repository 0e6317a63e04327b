// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/report/call_tree_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>
#include <unordered_map>

#include "core/base/counted.h"
#include "output/io/json_writer.h"
#include "output/io/percent.h"
#include "output/report/parts.h"

namespace htmtrace {

std::string describe(const CallStacks& stacks) {
  return fmt::format("call stacks: {} lost, {} cut, {} left out", stacks.restarts(), stacks.cut(),
                     counted(stacks.unknown(), "instruction"));
}

std::vector<StackTree::Stack> CallTreeReport::in_order(size_t most) const {
  // largest() sorts by total, so the functions below a caller are sorted, too.
  std::unordered_map<StackTree::Stack, std::vector<StackTree::Stack>> below;
  for (const StackTree::Stack stack : std::span(shown).first(std::min(most, shown.size()))) {
    below[tree.parent(stack)].push_back(stack);
  }
  std::vector<StackTree::Stack> ordered;
  std::vector<StackTree::Stack> waiting = {StackTree::kRoot};
  while (!waiting.empty()) {
    const StackTree::Stack stack = waiting.back();
    waiting.pop_back();
    if (stack != StackTree::kRoot) ordered.push_back(stack);
    const auto found = below.find(stack);
    if (found == below.end()) continue;
    waiting.insert(waiting.end(), found->second.rbegin(), found->second.rend());
  }
  return ordered;
}

std::string CallTreeReport::omission() const {
  uint64_t own = instructions();
  for (const StackTree::Stack stack : shown) own -= tree.own(stack);
  const uint64_t rest = tree.size() - 1 - shown.size();
  if (rest == 0) return {};
  return fmt::format("{} with {} of their own {} not shown", counted(rest, "stack"),
                     counted(own, "instruction"), rest == 1 ? "is" : "are");
}

std::string CallTreeReport::calls_text(StackTree::Stack stack) const {
  return has_calls(stack) ? std::to_string(tree.calls(stack)) : "-";
}

std::string CallTreeReport::to_text() const {
  std::string text = fmt::format("{}: {}\n{}\n\ncall tree\n{:>14} {:>7} {:>14} {:>12}  {}\n",
                                 counted(traces, "trace"), describe(totals), describe(stacks),
                                 "instructions", "share", "own", "calls", "function");
  const auto out = std::back_inserter(text);
  for (const StackTree::Stack stack : in_order()) {
    fmt::format_to(out, "{:>14} {:>6.2f}% {:>14} {:>12}  {:{}}{}\n", tree.total(stack),
                   percent(tree.total(stack), instructions()), tree.own(stack), calls_text(stack),
                   "", 2 * (tree.depth(stack) - 1), tree.name(stack));
  }
  const std::string rest = omission();
  return rest.empty() ? text : text + rest + "\n";
}

std::string CallTreeReport::to_json() const {
  JsonWriter json;
  json.begin_object();
  write_basis(json, "htmtrace-call-tree", totals, traces);
  json.number("instructions", instructions());
  json.number("lost_stacks", stacks.restarts());
  json.number("cut_stacks", stacks.cut());
  json.number("instructions_left_out", stacks.unknown());
  json.number("stacks_not_shown", uint64_t{tree.size() - 1 - shown.size()});
  std::unordered_map<StackTree::Stack, uint64_t> place;
  json.begin_array("stacks");
  for (const StackTree::Stack stack : in_order()) {
    json.begin_object();
    std::string_view name = tree.name(stack);
    if (tree.is_inlined(stack)) name.remove_suffix(CallTree::kInlinedMark.size());
    json.text("function", name);
    json.boolean("mark", tree.is_mark(stack));
    json.boolean("inlined", tree.is_inlined(stack));
    const StackTree::Stack caller = tree.parent(stack);
    if (caller == StackTree::kRoot) {
      json.null("caller");
    } else {
      json.number("caller", place.at(caller));
    }
    json.number("depth", tree.depth(stack));
    json.number("instructions", tree.total(stack));
    json.number("own", tree.own(stack));
    if (has_calls(stack)) {
      json.number("calls", tree.calls(stack));
    } else {
      json.null("calls");
    }
    json.end_object();
    place.emplace(stack, place.size());
  }
  json.end_array();
  json.end_object();
  return json.take();
}

}  // namespace htmtrace
