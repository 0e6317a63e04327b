// SPDX-License-Identifier: GPL-2.0-or-later
// htmtrace in place of `htmdecode`, the program that the perf tool of the htm series starts to read
// nest traces: under that name it takes the arguments that perf gives.
#pragma once

#include <string>
#include <vector>

namespace htmtrace {

bool is_htmdecode(const char* program);

// What `htmdecode -o -j -w N -f FILE` asks, as arguments of htmtrace. Throws Error when it asks for
// something else.
std::vector<std::string> htmdecode_arguments(int argc, const char* const* argv);

}  // namespace htmtrace
