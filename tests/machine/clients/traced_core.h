// SPDX-License-Identifier: GPL-2.0-or-later
// The core that most clients trace: node 0, chip 1, core 4, which is processor 1. Processor 0 is
// the carrier CPU.
#pragma once
#include "tests/machine/clients/client.h"
#include "tests/machine/clients/control.h"
#include "tests/machine/clients/whole.h"

#define CORE HTM_CONFIG(kCore, 0, 1, 4)
#define CORE_CONTROL "2 0 1 4"

enum { kCarrier = 0, kTraced = 1, kThird = 2 };

// States of a macro, with the hypervisor's numbers.
enum { kReserved, kConfigured, kTracing, kStopped };

static inline int64_t state(void) {
  return control("state " CORE_CONTROL);
}

// True if the received trace equals the hypervisor's trace.
static inline bool equal(const struct client* client) {
  return trace_equal(client, CORE_CONTROL);
}

static inline bool whole(const struct client* client) {
  return delivered(client) && equal(client);
}
