// SPDX-License-Identifier: GPL-2.0-or-later
// Returns all lines of StackTree::fold().
#pragma once

#include <string>
#include <string_view>

#include "core/call_stacks/call_tree.h"
#include "core/call_stacks/stack_tree.h"

namespace htmtrace {

inline std::string folded(const CallTree& tree) {
  std::string text;
  StackTree(tree).fold([&](std::string_view line) { text += line; });
  return text;
}

}  // namespace htmtrace
