// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "tests/machine/clients/untraced.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/machine/clients/control.h"

bool await(struct client* client, int kind) {
  for (int i = 0; i < 500 && client->announced[kind] == 0; i++) {
    usleep(10000);
    client_consume(client);
  }
  return client->announced[kind] != 0;
}

void show(const struct client* client) {
  printf("# started %" PRIu64 " times (why %#x, %" PRIu64 " ns), %" PRIu64
         " gaps (why %#x, last %" PRIu64 " ns), %" PRIu64 " errors (%#" PRIx64 "), flags %#" PRIx64
         "\n",
         client->announced[kStarted], told_why(client->said[kStarted]),
         told_ns(client->said[kStarted]), client->announced[kGap], client->gaps_why,
         told_ns(client->said[kGap]), client->announced[kErrorTold], client->said[kErrorTold],
         client->aux_flags);
}

bool partial(const struct client* client) {
  return (client->aux_flags & PERF_AUX_FLAG_PARTIAL) != 0;
}

void put_off_start(void) {
  control("START from=1 H_LONG_BUSY_ORDER_10_MSEC");
}

void give_in(void) {
  usleep(150000);
  control("clear");
}
