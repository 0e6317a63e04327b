// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/failure_status.h"

#include <atomic>

#include "cli/commands.h"

namespace htmtrace {
namespace {

std::atomic<int> status_of_failure = kExitFailed;

}  // namespace

void set_failure_status(int status) {
  status_of_failure = status;
}

int failure_status() {
  return status_of_failure;
}

}  // namespace htmtrace
