// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/machine/clients/whole.h"

#include <inttypes.h>
#include <stdio.h>

#include "tests/machine/clients/control.h"

// The hypervisor delivers multiples of this unit. The client's bytes after the last unit are zeros,
// because no source states the amount of trace in the last dump (kmod/ABI).
enum { kUnit = 1 << 16 };

static size_t without_filler(const struct client* client) {
  size_t size = client->trace.size;
  while (size > 0 && client->trace.data[size - 1] == 0) size--;
  size = (size + kUnit - 1) / kUnit * kUnit;
  return size < client->trace.size ? size : client->trace.size;
}

bool trace_equal(const struct client* client, const char* macro) {
  const size_t size = without_filler(client);
  if (size > 0 && client->trace.size == client->said[kTraceEnd] &&
      checksum(client->trace.data, size) == (uint64_t)control("checksum %s", macro)) {
    return true;
  }
  printf("# %zu bytes of trace, %zu with something in them, %" PRIu64 " announced\n",
         client->trace.size, size, client->said[kTraceEnd]);
  printf("# value of the last read %" PRIu64 ", error %#" PRIx64 "\n", client->last.value,
         client->said[kErrorTold]);
  return false;
}

bool map_equal(const struct client* client) {
  if (checksum(client->map.data, client->map.size) == (uint64_t)control("map")) return true;
  printf("# %zu bytes of memory map, %" PRIu64 " announced\n", client->map.size,
         client->said[kMapEnd]);
  return false;
}

bool delivered(const struct client* client) {
  if (client_complete(client)) return true;
  printf("# flags %#" PRIx64 ", %" PRIu64 " times throttled, %" PRIu64 " errors, %" PRIu64
         " lost, %" PRIu64 " ends\n",
         client->aux_flags, client->throttled, client->announced[kErrorTold], client->lost,
         client->announced[kTraceEnd]);
  return false;
}
