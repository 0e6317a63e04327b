// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "core/base/fd.h"

namespace htmtrace {

struct Pipe {
  Fd read, write;
};

// Creates a pipe whose ends are closed by execve(2). Throws Error.
Pipe make_pipe();

}  // namespace htmtrace
