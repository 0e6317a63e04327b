// SPDX-License-Identifier: GPL-2.0-or-later
// The calls between the functions of a finished CallTree with sites.
#pragma once

#include <cstdint>
#include <vector>

#include "core/call_stacks/call_tree.h"

namespace htmtrace {

// The calls of one function by another function at one address.
struct CallEdge {
  // The caller of the outermost functions.
  static constexpr CallTree::Function kNobody = ~CallTree::Function{0};

  CallTree::Function caller = kNobody;
  uint64_t site = CallTree::kNoSite;  // with its owner
  CallTree::Function callee = CallTree::kUnnamed;
  // How often the function began, at least 1: its begin need not be in the trace. 1 for
  // "[unknown callers]".
  uint64_t calls = 0;
  // The instructions of the function and of all functions below it. A call of a function that is
  // already in the stack has none, because an outer call has them. The sum of all calls of a
  // function is therefore the number of instructions with the function in their stack.
  uint64_t instructions = 0;
};

// Returns the calls with instructions or begins, sorted by caller, site and callee.
std::vector<CallEdge> call_edges(const CallTree& tree);

// Returns the instructions of each function without the functions that it called.
std::vector<uint64_t> own_instructions(const CallTree& tree);

}  // namespace htmtrace
