// SPDX-License-Identifier: GPL-2.0-or-later
// Returns all lines of CallTree::fold().
#pragma once

#include <string>
#include <string_view>

#include "core/analysis/call_tree.h"

namespace htmtrace {

inline std::string folded(const CallTree& tree) {
  std::string text;
  tree.fold([&](std::string_view line) { text += line; });
  return text;
}

}  // namespace htmtrace
