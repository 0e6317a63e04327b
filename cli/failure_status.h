// SPDX-License-Identifier: GPL-2.0-or-later
// The exit status of a command that an error ends, also where no exception can carry it: the
// handler of std::terminate() needs it.
#pragma once

namespace htmtrace {

// kExitFailed at first.
void set_failure_status(int status);
int failure_status();

}  // namespace htmtrace
