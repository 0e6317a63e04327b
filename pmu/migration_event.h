// SPDX-License-Identifier: GPL-2.0-or-later
// The perf event that counts the moves of a thread between CPUs.
#pragma once

#include "pmu/event_attr.h"

namespace htmtrace {

// A software event for one thread on all CPUs. Its value is the number of times that the thread
// began to run on another CPU than before.
EventAttr migration_event_attr();

}  // namespace htmtrace
