// SPDX-License-Identifier: GPL-2.0-or-later
// behaviour - operations of a perf client on an open event have the documented results. Each check
// is a sentence of kmod/ABI. The test needs three processors; core 4 of chip 1 is processor 1.
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
      "a read without rings returns 0 and does not stop the trace");
  client_disable(&client);

  client_map_data(&client, kData);
  tap(client_map_aux(&client, kAux, PROT_READ) == -ENOMEM,
      "mmap of an overwrite AUX area fails with ENOMEM");
  if (client.page_bytes == 4096) {
    tap(client_map_aux(&client, 4096, PROT_READ | PROT_WRITE) == -ENOMEM,
        "mmap of an AUX area of 4 KiB fails with ENOMEM");
  }
  const size_t smallest = client.page_bytes > 8192 ? client.page_bytes : 8192;
  client_map_aux(&client, smallest, PROT_READ | PROT_WRITE);
  trace(&client);
  client_drain(&client);
  tap(whole(&client), "the smallest AUX area receives the whole trace");
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
      "SET_OUTPUT to a software event's ring succeeds");
  trace(&client);
  do {
    client_read(&client);
  } while (client_consume(&ring) || client.last.value != 0);
  tap(ring.announced[kMapEnd] == 1 && ring.said[kMapEnd] == ring.map_bytes && ring.map_bytes > 0,
      "that ring receives the memory map");
  tap(ring.announced[kTraceEnd] == 0, "that ring receives no trace, because it has no AUX area");

  tap(event_ioctl(client.event, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)-1) == 0,
      "SET_OUTPUT -1 succeeds");
  client_map_data(&client, kData);
  client_map_aux(&client, kAux, PROT_READ | PROT_WRITE);
  client_drain(&client);
  tap(equal(&client), "the driver delivers the trace when the ring has an AUX area");
  client_end(&client);
  client_end(&ring);
}

static void pause_output(void) {
  struct client client;
  begin(&client);
  trace(&client);
  event_ioctl(client.event, PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
  for (int i = 0; i < 20; i++) client_read(&client);
  tap(client.last.value == 1, "a read while the ring is paused returns 1");
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
      "IOC_PERIOD fails with EINVAL, and the trace continues");
  tap(event_ioctl(client.event, PERF_EVENT_IOC_RESET, 0) == 0 && state() == kStopped,
      "IOC_RESET stops the trace, like a read");
  client_consume(&client);
  tap(client.trace_bytes > 0, "IOC_RESET delivers a part of the trace");
  client_drain(&client);
  tap(whole(&client), "IOC_RESET loses nothing");

  const int64_t dumps = control("calls DUMP_DATA"), maps = control("calls DUMP_SYSMEM_CONF");
  bool zero = true;
  for (int i = 0; i < 10; i++) zero &= client_read(&client) && client.last.value == 0;
  tap(zero && control("calls DUMP_DATA") == dumps && control("calls DUMP_SYSMEM_CONF") == maps,
      "reads after the end return 0 without a hypervisor call");
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
    if (read(client.event, &reading, sizeof(reading)) < 0) die("a group read succeeds");
  } while (client_consume(&client) || reading.values[0] != 0);
  tap(reading.count == 2 && whole(&client), "group reads drain the trace like other reads");
  close(member);
  client_end(&client);
}

// ------------------------------------------------------------------------------- enabling

static void enable_again(void) {
  struct client client;
  begin(&client);
  trace(&client);
  client_disable(&client);
  tap(state() == kStopped, "DISABLE stops the macro");
  trace(&client);
  tap(state() == kTracing, "ENABLE continues the trace");
  client_drain(&client);
  tap(whole(&client) && client.aux_flags == 0, "both stretches form one trace");

  const int64_t configurations = control("configurations " CORE_CONTROL);
  client_disable(&client);
  const struct client before = client;
  client.trace.size = 0;
  trace(&client);
  // The worker arms the macro again in the background.
  for (int i = 0; i < 100 && state() != kTracing; i++) usleep(10000);
  tap(control("configurations " CORE_CONTROL) == configurations + 1,
      "ENABLE after the drain arms a new trace");
  work_on(kTraced, kShortWork);
  client_drain(&client);
  tap(client.announced[kTraceEnd] == 2 && client.announced[kMapEnd] == 2 &&
          client.said[kTraceEnd] == client.trace_bytes - before.trace_bytes && equal(&client),
      "the new trace is complete, with its own memory map");
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
      "wrap: the driver delivers the whole trace memory");

  const uint64_t before = client.trace_bytes;
  client.trace.size = 0;
  client_disable(&client);
  client_enable(&client);
  for (int i = 0; i < 100 && state() != kTracing; i++) usleep(10000);
  work_on(kTraced, kShortWork);
  client_drain(&client);
  const uint64_t second = client.trace_bytes - before;
  tap(client.announced[kTraceEnd] == 2 && client.said[kTraceEnd] == second && equal(&client),
      "wrap: ENABLE after the drain starts a new trace");
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
  tap(whole(&client), "the attempt to unload the module does not disturb the event");
  client_end(&client);
}

static void lose_carrier(void) {
  struct client client;
  client_begin(&client, CORE, kThird, kData, kAux);
  trace(&client);
  set_online(kThird, false);
  tap(state() == kStopped, "the carrier CPU goes offline: the trace stops");
  client_read(&client);
  tap(!client_consume(&client), "the carrier CPU is offline: the event delivers no more data");
  const struct perf_event_attr attr = client_attr(CORE);
  tap(open_event(&attr, -1, kCarrier, -1) == -EBUSY,
      "the carrier CPU is offline: the event keeps its target");
  const struct perf_event_attr other = client_attr(HTM_CONFIG(kCore, 0, 0, 0));
  tap(open_event(&other, -1, kThird, -1) == -ENODEV, "open on an offline CPU fails with ENODEV");
  client_end(&client);
  tap(control("configured") == 0, "close releases the macro");
  set_online(kThird, true);
  client_begin(&client, CORE, kThird, kData, kAux);
  trace(&client);
  client_drain(&client);
  tap(whole(&client), "the carrier CPU is online again: it carries a new event");
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
  tap(control("configured") == 0, "no macro stays configured");
  return tap_end();
}
