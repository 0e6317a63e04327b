// SPDX-License-Identifier: GPL-2.0-or-later
// bare NODE CHIP CORE CPU THOUSANDS - traces work of THOUSANDS thousand instructions on CPU, which
// is that core. Drains the trace only with read(2) and memcpy(3), the minimum for any client.
// Prints "bare: BYTES bytes NANOSECONDS ns READS reads". The carrier is CPU 0.
#define _GNU_SOURCE
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/machine/clients/client.h"

enum { kDataBytes = 1 << 20, kAuxBytes = 8 << 20 };

static uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void copy_trace(const struct client* client) {
  static uint8_t buffer[kAuxBytes];
  const size_t at = client->page->aux_tail % kAuxBytes;
  const uint64_t waiting = client_waiting(client);
  const size_t first = waiting < kAuxBytes - at ? waiting : kAuxBytes - at;
  memcpy(buffer, client->aux + at, first);
  memcpy(buffer + first, client->aux, waiting - first);
}

int main(int argc, char** argv) {
  if (argc != 6) {
    fputs("usage: bare NODE CHIP CORE CPU THOUSANDS\n", stderr);
    return 2;
  }
  struct client client;
  const uint64_t config = HTM_CONFIG(kCore, atoi(argv[1]), atoi(argv[2]), atoi(argv[3]));
  client_begin(&client, config, 0, kDataBytes, kAuxBytes);
  client_enable(&client);
  work_on(atoi(argv[4]), (unsigned)atoi(argv[5]));

  cpu_set_t carrier;
  CPU_ZERO(&carrier);
  CPU_SET(0, &carrier);
  if (sched_setaffinity(0, sizeof(carrier), &carrier) != 0) die("affinity");
  const uint64_t begin = now_ns();
  for (unsigned idle = 0; idle < 2;) {
    if (!client_read(&client)) die("the event");
    copy_trace(&client);
    const bool progress = client_consume(&client);
    idle = progress ? 0 : idle + (client.last.value == 0);
    if (!progress && client.last.value != 0) usleep(1000);
  }
  printf("bare: %" PRIu64 " bytes %" PRIu64 " ns %" PRIu64 " reads\n", client.trace_bytes,
         now_ns() - begin, client.reads);
  const bool complete = client_complete(&client);
  client_end(&client);
  return complete ? 0 : 1;
}
