// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "output/recording/host_facts.h"

namespace htmtrace {

// Reads the facts about this machine for a recording. Prints a warning for each file that it cannot
// read.
HostFacts recorded_host();

}  // namespace htmtrace
