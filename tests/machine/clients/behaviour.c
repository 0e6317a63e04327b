// SPDX-License-Identifier: GPL-2.0-or-later
// behaviour - the driver's answers to a perf client's operations on an open event. Each check is a
// sentence of kmod/ABI. The test needs three processors; core 4 of chip 1 is processor 1.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/machine/clients/group.h"
#include "tests/machine/clients/processors.h"
#include "tests/machine/clients/tap.h"
#include "tests/machine/clients/traced_core.h"

enum { kData = 1 << 18, kAux = 1 << 18 };
// More than the trace memory of this test holds.
enum { kLongWork = 60, kShortWork = 5 };

static void begin(struct client* client) {
  client_begin(client, CORE, kCarrier, kData, kAux);
}

static void trace(struct client* client) {
  client_enable(client);
  work_on(kTraced, kShortWork);
}

// ------------------------------------------------------------------------------- rings

static void map_oddly(void) {
  struct client client = {.keep = true};
  const struct perf_event_attr attr = client_attr(CORE);
  client.event = client_open(&attr, kCarrier);
  client_enable(&client);
  uint64_t reading[5];
  tap(read(client.event, reading, sizeof(reading)) == sizeof(reading) && reading[0] == 0 &&
          state() == kTracing,
      "a read without rings gives 0 and does not stop the trace");
  client_disable(&client);

  client_map_data(&client, kData);
  tap(client_map_aux(&client, kAux, PROT_READ) == -ENOMEM, "an overwrite AUX area: ENOMEM");
  if (client.page_bytes == 4096) {
    tap(client_map_aux(&client, 4096, PROT_READ | PROT_WRITE) == -ENOMEM,
        "an AUX area of 4 KiB: ENOMEM");
  }
  const size_t smallest = client.page_bytes > 8192 ? client.page_bytes : 8192;
  client_map_aux(&client, smallest, PROT_READ | PROT_WRITE);
  trace(&client);
  client_drain(&client);
  tap(whole(&client), "the smallest AUX area is enough");
  client_end(&client);
}

static void redirect(void) {
  struct client ring = {.keep = true};
  struct perf_event_attr dummy = dummy_attr();
  dummy.sample_type = client_attr(CORE).sample_type;
  dummy.sample_id_all = 1;
  ring.event = open_event(&dummy, -1, kCarrier, -1);
  client_map_data(&ring, kData);

  struct client client = {.keep = true};
  const struct perf_event_attr attr = client_attr(CORE);
  client.event = client_open(&attr, kCarrier);
  tap(event_ioctl(client.event, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)ring.event) == 0,
      "SET_OUTPUT to a software event's ring");
  trace(&client);
  do {
    client_read(&client);
  } while (client_consume(&ring) || client.last.value != 0);
  tap(ring.announced[kMapEnd] == 1 && ring.said[kMapEnd] == ring.map_bytes && ring.map_bytes > 0,
      "the memory map comes in that ring");
  tap(ring.announced[kTraceEnd] == 0, "and no trace, for it has no AUX area");

  tap(event_ioctl(client.event, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)-1) == 0,
      "SET_OUTPUT -1 takes it back");
  client_map_data(&client, kData);
  client_map_aux(&client, kAux, PROT_READ | PROT_WRITE);
  client_drain(&client);
  tap(equal(&client), "the trace follows when there is an AUX area");
  client_end(&client);
  client_end(&ring);
}

static void pause_output(void) {
  struct client client;
  begin(&client);
  trace(&client);
  event_ioctl(client.event, PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
  for (int i = 0; i < 20; i++) client_read(&client);
  tap(client.last.value == 1, "while the ring is paused: again");
  event_ioctl(client.event, PERF_EVENT_IOC_PAUSE_OUTPUT, 0);
  client_drain(&client);
  tap(whole(&client), "PAUSE_OUTPUT loses nothing");
  client_end(&client);
}

// ------------------------------------------------------------------------------- reading

static void read_oddly(void) {
  struct client client;
  begin(&client);
  trace(&client);
  tap(event_ioctl(client.event, PERF_EVENT_IOC_PERIOD, (unsigned long)&(uint64_t){7}) == -EINVAL &&
          state() == kTracing,
      "IOC_PERIOD: EINVAL, and the trace goes on");
  tap(event_ioctl(client.event, PERF_EVENT_IOC_RESET, 0) == 0 && state() == kStopped,
      "IOC_RESET is a read: it stops the trace");
  client_consume(&client);
  tap(client.trace_bytes > 0, "and brings a part of it");
  client_drain(&client);
  tap(whole(&client), "nothing is lost by IOC_RESET");

  const int64_t dumps = control("calls DUMP_DATA"), maps = control("calls DUMP_SYSMEM_CONF");
  bool zero = true;
  for (int i = 0; i < 10; i++) zero &= client_read(&client) && client.last.value == 0;
  tap(zero && control("calls DUMP_DATA") == dumps && control("calls DUMP_SYSMEM_CONF") == maps,
      "extra reads give 0 and ask the hypervisor nothing");
  client_end(&client);
}

static void read_group(void) {
  struct client client = {.keep = true};
  struct perf_event_attr attr = client_attr(CORE);
  attr.read_format = PERF_FORMAT_GROUP;
  client.event = client_open(&attr, kCarrier);
  struct perf_event_attr dummy = dummy_attr();
  dummy.read_format = PERF_FORMAT_GROUP;
  const int member = open_event(&dummy, -1, kCarrier, client.event);
  client_map_data(&client, kData);
  client_map_aux(&client, kAux, PROT_READ | PROT_WRITE);
  trace(&client);
  struct {
    uint64_t count, values[2];
  } reading = {};
  do {
    if (read(client.event, &reading, sizeof(reading)) < 0) die("group read");
  } while (client_consume(&client) || reading.values[0] != 0);
  tap(reading.count == 2 && whole(&client), "group reads drain the trace like others");
  close(member);
  client_end(&client);
}

// ------------------------------------------------------------------------------- enabling

static void enable_again(void) {
  struct client client;
  begin(&client);
  trace(&client);
  client_disable(&client);
  tap(state() == kStopped, "DISABLE stops");
  trace(&client);
  tap(state() == kTracing, "ENABLE goes on");
  client_drain(&client);
  tap(whole(&client) && client.aux_flags == 0, "both stretches are one trace");

  const int64_t configurations = control("configurations " CORE_CONTROL);
  client_disable(&client);
  const struct client before = client;
  client.trace.size = 0;
  trace(&client);
  // The worker arms the macro again in the background.
  for (int i = 0; i < 100 && state() != kTracing; i++) usleep(10000);
  tap(control("configurations " CORE_CONTROL) == configurations + 1,
      "ENABLE after everything was delivered arms a new trace");
  work_on(kTraced, kShortWork);
  client_drain(&client);
  tap(client.announced[kTraceEnd] == 2 && client.announced[kMapEnd] == 2 &&
          client.said[kTraceEnd] == client.trace_bytes - before.trace_bytes && equal(&client),
      "and it is delivered whole, with its own memory map");
  client_end(&client);
}

// The flight recorder of kmod/ABI.
static void wrap(void) {
  struct client client = {.keep = true};
  struct perf_event_attr attr = client_attr(CORE);
  attr.config1 = 1;
  client.event = client_open(&attr, kCarrier);
  client_map_data(&client, kData);
  client_map_aux(&client, kAux, PROT_READ | PROT_WRITE);
  client_enable(&client);
  work_on(kTraced, kLongWork);
  client_drain(&client);
  tap(whole(&client) && client.trace_bytes == client.said[kTraceBegin],
      "wrap: the whole trace memory is delivered");

  const uint64_t before = client.trace_bytes;
  client.trace.size = 0;
  client_disable(&client);
  client_enable(&client);
  for (int i = 0; i < 100 && state() != kTracing; i++) usleep(10000);
  work_on(kTraced, kShortWork);
  client_drain(&client);
  const uint64_t second = client.trace_bytes - before;
  tap(client.announced[kTraceEnd] == 2 && client.said[kTraceEnd] == second && equal(&client),
      "wrap: enabled again, it records anew");
  client_end(&client);
}

// ------------------------------------------------------------------------------- module and CPU

static void unload(void) {
  struct client client;
  begin(&client);
  tap(syscall(SYS_delete_module, "htm", O_NONBLOCK) == -1 &&
          errno == (driver_is_built_in() ? ENOENT : EWOULDBLOCK),
      "the module cannot be unloaded while an event is open");
  trace(&client);
  client_drain(&client);
  tap(whole(&client), "and the event does not mind the attempt");
  client_end(&client);
}

static void lose_carrier(void) {
  struct client client;
  client_begin(&client, CORE, kThird, kData, kAux);
  trace(&client);
  set_online(kThird, false);
  tap(state() == kStopped, "the carrier CPU goes offline: STOP");
  client_read(&client);
  tap(!client_consume(&client), "its event delivers nothing any more");
  const struct perf_event_attr attr = client_attr(CORE);
  tap(open_event(&attr, -1, kCarrier, -1) == -EBUSY, "and keeps its target");
  const struct perf_event_attr other = client_attr(HTM_CONFIG(kCore, 0, 0, 0));
  tap(open_event(&other, -1, kThird, -1) == -ENODEV, "no event can be opened on it: ENODEV");
  client_end(&client);
  tap(control("configured") == 0, "closing it gives the macro back");
  set_online(kThird, true);
  client_begin(&client, CORE, kThird, kData, kAux);
  trace(&client);
  client_drain(&client);
  tap(whole(&client), "online again, the CPU carries a new event");
  client_end(&client);
}

int main(void) {
  map_oddly();
  redirect();
  pause_output();
  read_oddly();
  read_group();
  enable_again();
  wrap();
  unload();
  lose_carrier();
  tap(control("configured") == 0, "nothing is configured at the end");
  return tap_end();
}
