// SPDX-License-Identifier: GPL-2.0-or-later
// The files that a command with these traces reads.
#pragma once

#include <string>
#include <vector>

#include "cli/sandbox.h"

namespace htmtrace {

// `paths` are the traces of a command line. A trace file reaches the other files of its recording,
// but no other file of its folder. A link in a recording reaches its target only if the link has
// the name of a file of a recording.
Reach reach_of(const std::vector<std::string>& paths);

}  // namespace htmtrace
