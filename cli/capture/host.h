// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "output/recording/host_facts.h"

namespace htmtrace {

// Reads the facts of this machine that a recording states. Warns of facts that cannot be read.
HostFacts recorded_host();

}  // namespace htmtrace
