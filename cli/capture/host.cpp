// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/capture/host.h"

#include "cli/messages.h"

namespace htmtrace {

HostFacts recorded_host() {
  HostFacts host = read_host_facts();
  for (const std::string& failure : host.unread) {
    print_warning(failure + "; some facts about this machine may be unknown");
  }
  return host;
}

}  // namespace htmtrace
