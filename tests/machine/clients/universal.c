// SPDX-License-Identifier: GPL-2.0-or-later
// universal NODE CHIP CORE CPU DIR - traces some work on CPU, which is that core. Reads trace and
// memory map like a client of the public htm drivers, with the loop in client.c and without
// knowledge of this driver. Writes DIR/trace and DIR/map, the latter without the blocks' headers.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/machine/clients/client.h"
#include "tests/machine/clients/tap.h"

// Results of read(2) of the latest public driver, for trace and for blocks.
enum { kTraceUnit = 128, kMapUnit = 32 };

static void save(const char* folder, const char* name, const struct bytes* bytes) {
  char path[4096];
  snprintf(path, sizeof(path), "%s/%s", folder, name);
  FILE* file = fopen(path, "w");
  if (file == NULL || fwrite(bytes->data, 1, bytes->size, file) != bytes->size) die(path);
  if (fclose(file) != 0) die(path);
}

int main(int argc, char** argv) {
  if (argc != 6) {
    fputs("usage: universal NODE CHIP CORE CPU DIR\n", stderr);
    return 2;
  }
  struct client client;
  const uint64_t config = HTM_CONFIG(kCore, atoi(argv[1]), atoi(argv[2]), atoi(argv[3]));
  client_begin(&client, config, 0, 1 << 20, 1 << 18);
  client_enable(&client);
  work_on(atoi(argv[4]), 30);

  // A read delivers as many bytes as its value states. No bytes and a value other than 0 mean that
  // the hypervisor is busy.
  while (client_read(&client) && !client_consume(&client) && client.last.value != 0) usleep(1000);
  tap_equal((int64_t)(client.last.value * kTraceUnit), (int64_t)client.trace_bytes,
            "a read returns the bytes of trace in units of 128");
  tap(client_drain(&client), "the loop ends");
  tap(client.trace_bytes > client.aux_bytes, "the trace is longer than the AUX area");
  tap(client.blocks > 1, "the memory map has several blocks");
  tap_equal((int64_t)client.map_bytes, (int64_t)(client.map.size + client.blocks * kMapUnit),
            "each block has a header and entries");
  tap_equal((int64_t)(client.bad_records + client.overruns + client.throttled), 0,
            "the client received only records that it knows");
  tap_equal((int64_t)client.aux_flags, 0, "the driver flags no gap");
  tap(client.last.running_ns != 0, "the event's clock ran");

  const uint64_t trace = client.trace_bytes, blocks = client.blocks;
  for (int i = 0; i < 5; i++) {
    client_read(&client);
    client_consume(&client);
  }
  tap(client.last.value == 0 && client.trace_bytes == trace && client.blocks == blocks,
      "further reads return 0 and no data");
  save(argv[5], "trace", &client.trace);
  save(argv[5], "map", &client.map);
  client_end(&client);
  return tap_end();
}
