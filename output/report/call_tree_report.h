// SPDX-License-Identifier: GPL-2.0-or-later
// Prints the call stacks of traces as a tree, and draws it as a flame graph. htmtrace-report(1),
// CALL TREE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/call_stacks/call_stacks.h"
#include "core/call_stacks/stack_tree.h"
#include "output/report/decode_report.h"

namespace htmtrace {

// "call stacks: 1 lost, 0 cut, 2 instructions left out".
std::string describe(const CallStacks& stacks);

struct CallTreeReport {
  CallTreeReport(const CallStacks& counted, size_t most)
      : stacks(counted), tree(counted.tree()), shown(tree.largest(most)) {}

  const CallStacks& stacks;
  StackTree tree;
  std::vector<StackTree::Stack> shown;  // with the callers of each stack
  DecodeTotals totals;                  // all decoded events, selected or not
  size_t traces = 0;

  static constexpr size_t kTextStacks = 60;
  static constexpr size_t kFileStacks = 2000;

  std::string to_text() const;
  std::string to_json() const;
  std::string to_svg() const;

  uint64_t instructions() const { return tree.total(StackTree::kRoot); }

  // The `most` largest of the shown stacks in the order of a printed tree: each function follows
  // its caller, and the functions that a function called are sorted by their totals.
  std::vector<StackTree::Stack> in_order(size_t most) const;
  std::vector<StackTree::Stack> in_order() const { return in_order(shown.size()); }

  // Whether the calls of the innermost function are known: a mark is no function, and no
  // instruction calls an inlined function.
  bool has_calls(StackTree::Stack stack) const {
    return !tree.is_mark(stack) && !tree.is_inlined(stack);
  }
  // The number of calls of the innermost function; "-" if unknown.
  std::string calls_text(StackTree::Stack stack) const;

  // "12 stacks with 34 instructions of their own are not shown"; empty if all stacks are shown.
  std::string omission() const;
};

}  // namespace htmtrace
