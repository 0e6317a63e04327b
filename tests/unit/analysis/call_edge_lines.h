// SPDX-License-Identifier: GPL-2.0-or-later
// The calls of a tree as text.
#pragma once

#include <cstdint>
#include <set>
#include <sstream>
#include <string>

#include "core/call_stacks/call_edges.h"
#include "core/call_stacks/call_tree.h"

namespace htmtrace {

// "caller@site callee calls instructions" for each call; the outermost functions have the caller
// "-".
inline std::set<std::string> call_edge_lines(const CallTree& tree) {
  const auto name_of = [&](CallTree::Function function) {
    return function == CallEdge::kNobody ? "-" : tree.name_of(function);
  };
  std::set<std::string> lines;
  for (const CallEdge& edge : call_edges(tree)) {
    std::ostringstream line;
    line << name_of(edge.caller) << '@' << std::hex << edge.site << ' ' << name_of(edge.callee)
         << ' ' << std::dec << edge.calls << ' ' << edge.instructions;
    lines.insert(line.str());
  }
  return lines;
}

}  // namespace htmtrace
