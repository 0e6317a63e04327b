// SPDX-License-Identifier: GPL-2.0-or-later
// htmtrace as a replacement for `htmdecode`, the program that the perf tool of the htm series runs
// to read nest traces. Under this name, htmtrace accepts the arguments that perf passes.
#pragma once

#include <string>
#include <vector>

namespace htmtrace {

bool is_htmdecode(const char* program);

// Converts `htmdecode -o -j -w N -f FILE` to arguments of htmtrace. Throws Error for any other
// argument.
std::vector<std::string> htmdecode_arguments(int argc, const char* const* argv);

}  // namespace htmtrace
