// SPDX-License-Identifier: GPL-2.0-or-later
// Draws a call tree as a flame graph. Each row lists the functions that the row above called, and
// the width of a function is its share of the instructions.
#pragma once

#include <string>

#include "output/report/call_tree_report.h"

namespace htmtrace {

// An SVG element as wide as its container, without a title. The classes are in flame_style().
std::string flame_graph(const CallTreeReport& report);

// The style sheet of the element.
std::string flame_style();

}  // namespace htmtrace
