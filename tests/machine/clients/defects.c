// SPDX-License-Identifier: GPL-2.0-or-later
// defects [large] - checks that the driver has none of the known defects of the public htm drivers.
// The number at the start of a check is that of kmod/DEFECTS.md, which describes the defect.
//
// `large` adds the checks that take 2 GiB of memory.
//
// The machine: CPU 0 is the carrier CPU. The traced core is the core of CPU 1: node 0, chip 1, core
// 4.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/machine/clients/client.h"
#include "tests/machine/clients/control.h"
#include "tests/machine/clients/tap.h"
#include "tests/machine/clients/whole.h"

enum { kCarrier = 0, kOtherCarrier = 1, kTraced = 1, kDataBytes = 1 << 20 };
enum {
  kReserved,
  kConfigured,
  kTracing,
  kStopped
};  // number of the state in the hypervisor's answer to "state"
#define TARGET HTM_CONFIG(kCore, 0, 1, 4)

static size_t page_bytes, aux_bytes;

static int64_t macro_state(void) {
  return control("state 2 0 1 4");
}

// Returns true if all bytes of the macro and of the map arrived correctly, and the driver confirms
// this.
static bool all_came(const struct client* client) {
  return delivered(client) && trace_equal(client, "2 0 1 4") && map_equal(client);
}

static void begin(struct client* client) {
  control("clear");
  client_begin(client, TARGET, kCarrier, kDataBytes, aux_bytes);
}

// Makes a trace of several times the AUX area, and does not read the trace.
static void trace(struct client* client) {
  begin(client);
  client_enable(client);
  work_on(kTraced, 20);
}

static int open_with(const struct perf_event_attr* attr) {
  const int event = client_open(attr, kCarrier);
  if (event >= 0) close(event);
  return event;
}

// ------------------------------------------------------------------------------- opening

static void opening(void) {
  struct perf_event_attr attr = client_attr(TARGET);
  control("clear");
  const int first = client_open(&attr, kCarrier);
  tap(first >= 0, "an event can be opened");
  tap_equal(client_open(&attr, kOtherCarrier), -EBUSY,
            "1.4 only one event can open a target, on any CPU");
  tap_equal(control("calls CONFIGURE"), 1, "1.4 a second open does not configure the macro");
  attr.config = HTM_CONFIG(kCore, 0, 0, 0);
  tap_equal(client_open(&attr, kCarrier), -EBUSY, "1.4 a CPU carries only one event");
  close(first);

  attr = client_attr(TARGET);
  attr.freq = 1;
  attr.sample_freq = 1000;
  tap_equal(open_with(&attr), -EINVAL, "1.7 the driver refuses a frequency");

  for (int bit = 0; bit < 25; bit++) {
    const uint64_t good = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                          PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
                          PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW;
    attr = client_attr(TARGET);
    attr.sample_type |= UINT64_C(1) << bit;
    if (good >> bit & 1) continue;
    const int event = open_with(&attr);
    // The perf core checks the attr first, and rejects some attrs itself.
    tap(event == -EOPNOTSUPP || event == -EINVAL,
        "10.3j the driver refuses sample_type bit %d, which could make a record too long", bit);
  }

  attr = client_attr(TARGET);
  attr.type = 0x7ff0;
  attr.inherit = 1;
  tap_equal(open_with(&attr), -ENOENT,
            "10.3i the driver does not refuse inherit of another PMU's event");

  // The kernel's own driver has configured the macro.
  const char* const folder = "/sys/kernel/debug/powerpc/htmdump/";
  static const char* const settings[][2] = {{"htmtype", "2"},        {"nodeindex", "0"},
                                            {"nodalchipindex", "1"}, {"coreindexonchip", "4"},
                                            {"htmconfigure", "1"},   {"htmconfigure", "0"}};
  attr = client_attr(TARGET);
  for (int i = 0; i < 6; i++) {
    char path[128];
    snprintf(path, sizeof(path), "%s%s", folder, settings[i][0]);
    const int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0 || write(file, settings[i][1], 1) != 1) die(path);
    close(file);
    const int held = driver_is_built_in() ? -EBUSY : -EALREADY;
    if (i == 4)
      tap_equal(open_with(&attr), held,
                "10.3l the driver does not open a macro that htmdump has configured");
    if (i == 4) tap_equal(macro_state(), kConfigured, "10.3l htmdump's macro keeps its state");
  }
}

// ------------------------------------------------------------------------------- refusals

static void refusals(void) {
  struct perf_event_attr attr = client_attr(TARGET);
  control("clear");
  control("CONFIGURE from=1 H_AUTHORITY");
  tap_equal(open_with(&attr), -EPERM, "10.3h open returns the errno of a refused CONFIGURE");
  tap_equal(control("calls CONFIGURE"), 1, "1.5 the driver does not repeat a refused CONFIGURE");
  tap_equal(control("calls DECONFIGURE"), 0,
            "1.3 the driver does not deconfigure a macro that it did not configure");

  static const char* const codes[] = {"77", "-999", "H_HARDWARE"};
  for (int i = 0; i < 3; i++) {
    control("clear");
    control("CONFIGURE from=1 %s", codes[i]);
    tap_equal(open_with(&attr), -EIO, "1.2 %s to CONFIGURE is an error", codes[i]);
  }

  struct client client;
  begin(&client);
  control("START from=1 H_HARDWARE");
  client_enable(&client);
  client_consume(&client);
  tap_equal(client.announced[kErrorTold], 1, "10.3h the driver announces a refused START");
  tap(!client_read(&client), "10.3h a refused START puts a pinned event into the error state");
  tap_equal(control("calls START"), 1, "1.5 the driver does not repeat a refused START");
  client_end(&client);
  tap_equal(control("configured"), 0, "1.3 after a refused START, no macro stays configured");

  trace(&client);
  control("DUMP_DATA nth=2 H_HARDWARE");
  client_drain(&client);
  tap(client.aux_flags & PERF_AUX_FLAG_PARTIAL,
      "10.3g a trace that ends with an error has the flag PARTIAL");
  tap_equal(client.announced[kErrorTold], 1, "10.3g the driver announces the refused dump");
  client_end(&client);
}

// ------------------------------------------------------------------------------- start and stop

static void start_and_stop(void) {
  struct client client;
  begin(&client);
  tap_equal(macro_state(), kConfigured,
            "1.6 open and mmap configure the macro, but do not start it");
  client_enable(&client);
  tap_equal(macro_state(), kTracing, "1.6 ENABLE starts the macro");
  client_disable(&client);
  tap_equal(macro_state(), kStopped, "1.6 DISABLE stops the macro");
  client_enable(&client);
  tap_equal(macro_state(), kTracing, "1.6 ENABLE starts the macro again");
  work_on(kTraced, 5);
  client_disable(&client);
  tap_equal(control("calls DECONFIGURE"), 0, "10.3f DISABLE does not deconfigure the macro");
  client_enable(&client);
  client_drain(&client);
  tap(all_came(&client), "10.3f the trace before DISABLE is delivered");
  client_end(&client);
  tap_equal(macro_state(), kReserved, "10.3f close deconfigures the macro");

  begin(&client);
  client_enable(&client);
  munmap(client.aux, client.aux_bytes);
  client.aux = NULL;
  tap_equal(macro_state(), kStopped, "10.3n munmap of the AUX area stops the trace");
  client_end(&client);

  begin(&client);
  munmap(client.aux, client.aux_bytes);
  munmap(client.page, client.page_bytes + client.data_bytes);
  client.aux = NULL;
  client.page = NULL;
  client_enable(&client);
  client_read(&client);
  tap_equal((int64_t)client.last.value, 0, "10.3a a read before mmap returns 0");
  tap_equal(macro_state(), kTracing, "10.3a a read before mmap does not stop the trace");
  client_end(&client);
}

// ------------------------------------------------------------------------------- draining

// One event makes two traces.
static void again(void) {
  struct client client;
  trace(&client);
  client_drain(&client);
  tap(all_came(&client), "10.3c the first trace is complete");
  client_disable(&client);
  client.trace.size = client.map.size = 0;
  client.trace_bytes = client.map_bytes = client.blocks = client.block.size = 0;
  memset(client.announced, 0, sizeof(client.announced));
  client_enable(&client);
  // The driver arms the macro again in the background.
  for (int i = 0; i < 100 && macro_state() != kTracing; i++) usleep(10000);
  work_on(kTraced, 10);
  client_drain(&client);
  tap(all_came(&client) && client.trace_bytes != 0,
      "10.3c the second trace of the same event is complete, and so is its memory map");
  client_end(&client);
}

// A reader lets the area become full, and then drains an odd part of it. A third plus 1 byte
// sometimes makes the free space a multiple of 4 KiB. A full area ends the event.
static void stingy_reader(void) {
  struct client client;
  uint64_t most = 0;
  trace(&client);
  while (client_read(&client) && client.last.value != 0 && client.reads < 100000) {
    const uint64_t waiting = client_waiting(&client);
    if (waiting > most) most = waiting;
    if (client.last.value == 1) client_consume_part(&client, waiting / 3 + 1);
  }
  client_drain(&client);
  tap(all_came(&client), "2.1 each byte is right, although the reader drains odd parts");
  tap(most <= client.aux_bytes && most > client.aux_bytes / 2,
      "2.1 the AUX area was full, but the driver never wrote beyond the free space");
  tap_equal((int64_t)client.overruns, 0, "10.3f a full AUX area loses no trace");
  client_end(&client);
}

static void rings(void) {
  struct client client;
  trace(&client);
  client_drain(&client);
  tap(all_came(&client) && client.trace_bytes > 2 * aux_bytes,
      "3.6 a trace of several AUX areas is right");
  tap_equal(control("frames DUMP_DATA"), (int64_t)(aux_bytes / 4096),
            "3.6 the driver passes only the AUX area's frames to the hypervisor");
  tap_equal(client.announced[kTraceBegin], 1, "3.4 the driver announces the begin of the trace");
  tap_equal((int64_t)client.said[kTraceBegin], 4 << 20,
            "3.4 the announcement states the size of the trace memory");
  tap_equal((int64_t)client.said[kTraceEnd], (int64_t)client.trace.size,
            "3.4 the driver announces the end of the trace with the number of received bytes");
  tap_equal(client.announced[kMapBegin] + client.announced[kMapEnd], 2,
            "3.4 the driver announces the begin and the end of the memory map");
  tap_equal((int64_t)client.dirty_padding, 0, "3.5 the padding of a record is zero");
  tap_equal((int64_t)client.aux_record_bytes, (int64_t)client.trace_bytes,
            "3.5 the AUX records cover only bytes of the trace");
  client_end(&client);

  // Pages outside all blocks: the hypervisor writes to scattered memory.
  control("clear");
  struct perf_event_attr attr = client_attr(TARGET);
  attr.aux_watermark = 1;
  client = (struct client){.keep = true, .event = client_open(&attr, kCarrier)};
  client_map_data(&client, kDataBytes);
  if (client_map_aux(&client, aux_bytes, PROT_READ | PROT_WRITE) != 0) die("AUX");
  client_enable(&client);
  work_on(kTraced, 20);
  client_drain(&client);
  tap(all_came(&client), "3.2 an AUX area of single pages: each byte is right");
  tap_equal(control("frames DUMP_DATA"), (int64_t)(aux_bytes / 4096),
            "3.2 an AUX area of single pages: the hypervisor writes to no other page");
  client_end(&client);

  // The smallest area: an empty ring offers one byte less than its size.
  const size_t usual = aux_bytes;
  aux_bytes = page_bytes < 8192 ? 8192 : page_bytes;
  trace(&client);
  client_drain(&client);
  tap(all_came(&client), "10.3d the smallest AUX area receives the whole trace");
  client_end(&client);
  aux_bytes = usual;
}

// An AUX area whose size exceeds an int. The caller provides enough memory.
static void large_ring(void) {
  const size_t usual = aux_bytes;
  struct client client;
  aux_bytes = (size_t)2 << 30;
  trace(&client);
  client_drain(&client);
  tap(all_came(&client), "2.2 an AUX area of 2 GiB receives the whole trace");
  client_end(&client);
  aux_bytes = usual;
}

// ------------------------------------------------------------------------------- the memory map

static void memory_map(void) {
  static const char* const ends[] = {"zero", "status", "ones"};
  struct client client;
  for (int i = 0; i < 3; i++) {
    control("set iterator_end %s", ends[i]);
    trace(&client);
    client_drain(&client);
    tap(all_came(&client) && client.blocks > 1, "10.3m a list that ends with \"%s\" is complete",
        ends[i]);
    client_end(&client);
  }

  // A data ring that holds at most one block, and that is not read for some time.
  control("clear");
  struct perf_event_attr attr = client_attr(TARGET);
  client = (struct client){.keep = true, .event = client_open(&attr, kCarrier)};
  client_map_data(&client, page_bytes);
  if (client_map_aux(&client, aux_bytes, PROT_READ | PROT_WRITE) != 0) die("AUX");
  client_enable(&client);
  work_on(kTraced, 5);
  while (client_read(&client) && client.last.value != 0 && client.reads < 3000) {
    // Drain only the AUX area until the data ring is full of announcements and blocks.
    const uint64_t head = __atomic_load_n(&client.page->aux_head, __ATOMIC_ACQUIRE);
    if (head == client.page->aux_tail) break;
    client_consume(&client);
  }
  for (int i = 0; i < 50; i++) client_read(&client);
  client_drain(&client);
  tap(all_came(&client), "3.3 a full data ring loses no block");
  client_end(&client);

  control("set lie_entries 100000");
  trace(&client);
  client_drain(&client);
  tap(client.bad_records != 0 && client.blocks == 0,
      "3.1 a block that claims more entries than it has is delivered with its true length");
  tap_equal(control("violations"), 0, "3.1 the driver causes no write to other memory");
  control("set lie_entries 0");
  client_end(&client);

  static const int sizes[] = {0, 11, 49, 64, 255};
  for (int i = 0; i < 5; i++) {
    control("set lie_log2 %d", sizes[i]);
    trace(&client);
    client_drain(&client);
    tap(all_came(&client) && client.said[kTraceBegin] == 0,
        "10.3b the driver treats a trace memory of 2^%d bytes as unknown", sizes[i]);
    client_end(&client);
  }
  control("set lie_log2 256");
}

// ------------------------------------------------------------------------------- the perf core

// A group member with too many samples makes the core stop and start the whole group.
static void throttling(void) {
  struct perf_event_attr member = {.type = PERF_TYPE_SOFTWARE,
                                   .size = sizeof(member),
                                   .config = PERF_COUNT_SW_CPU_CLOCK,
                                   .sample_period = 1000000,  // 1 ms
                                   .sample_type = PERF_SAMPLE_IDENTIFIER,
                                   .disabled = 1};
  struct client client;
  begin(&client);
  const int clock =
      (int)syscall(SYS_perf_event_open, &member, -1, kCarrier, client.event, PERF_FLAG_FD_CLOEXEC);
  if (clock < 0) die("the member of the group");
  client_enable(&client);
  work_on(kTraced, 20);
  client_read(&client);
  const int64_t starts = control("calls START");
  if (ioctl(clock, PERF_EVENT_IOC_ENABLE, 0) != 0) die("the member of the group");
  usleep(100000);  // ten ticks: the core throttles and releases the group ten times
  client_drain(&client);
  tap(client.throttled != 0, "10.3e the core throttled the group during a drain");
  tap_equal(control("calls START"), starts, "10.3e the driver issues no START during a drain");
  client.throttled = 0;
  tap(all_came(&client), "10.3e each byte of the throttled group's trace is right");
  close(clock);
  client_end(&client);
}

// With a hypervisor that takes 20 us for 4 KiB, 1 ms corresponds to 200 KiB.
static void time_with_interrupts_off(void) {
  enum { kPerFrame = 20000 };
  const size_t usual = aux_bytes;
  struct client client;
  aux_bytes = 4 << 20;
  control("set dump_ns %d", kPerFrame);
  trace(&client);
  work_on(kTraced, 50);
  client_drain(&client);
  tap(all_came(&client) && client.trace_bytes > 1 << 20,
      "10.3k the trace of a slow hypervisor is right");
  tap(control("longest DUMP_DATA") / 4096 * kPerFrame <= 1000000,
      "10.3k no dump keeps interrupts off for more than 1 ms");
  control("set dump_ns 0");
  client_end(&client);
  aux_bytes = usual;
}

int main(int argc, char** argv) {
  page_bytes = (size_t)sysconf(_SC_PAGESIZE);
  aux_bytes = 4 * page_bytes < 65536 ? 65536 : 4 * page_bytes;
  opening();
  refusals();
  start_and_stop();
  rings();
  stingy_reader();
  if (argc > 1 && strcmp(argv[1], "large") == 0) large_ring();
  again();
  memory_map();
  throttling();
  time_with_interrupts_off();
  tap_equal(control("configured"), 0, "no macro stays configured");
  tap_equal(control("violations"), 0, "the driver caused no write to other memory");
  return tap_end();
}
