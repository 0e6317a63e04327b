// SPDX-License-Identifier: GPL-2.0-or-later
// Checks a file descriptor that the command line names (--control fd:N, --ready-fd N).
#pragma once

#include "core/base/fd.h"

namespace htmtrace {

// Takes ownership of the descriptor, and hides it from programs that htmtrace starts. Throws Error,
// which names `option`, if the descriptor is not open or if htmtrace already uses it.
Fd take_inherited_fd(int number, const char* option);

}  // namespace htmtrace
