// SPDX-License-Identifier: GPL-2.0-or-later
// behaviour - how the driver answers what a client of perf may do with an event. Each check is a
// sentence of kmod/ABI. Needs three processors; core 4 of chip 1 is processor 1.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/machine/clients/client.h"
#include "tests/machine/clients/control.h"
#include "tests/machine/clients/group.h"
#include "tests/machine/clients/tap.h"
#include "tests/machine/clients/whole.h"

#define CORE HTM_CONFIG(kCore, 0, 1, 4)
#define CORE_CONTROL "2 0 1 4"

// States as the hypervisor counts them.
enum { kReserved, kConfigured, kTracing, kStopped };
enum { kCarrier = 0, kTraced = 1, kThird = 2 };
enum { kData = 1 << 18, kAux = 1 << 18 };
// More than the trace memory of this test holds.
enum { kLongWork = 60, kShortWork = 5 };

static int64_t state(void) {
  return control("state " CORE_CONTROL);
}

static void begin(struct client* client) {
  client_begin(client, CORE, kCarrier, kData, kAux);
}

static void trace(struct client* client) {
  client_enable(client);
  work_on(kTraced, kShortWork);
}

static bool equal(const struct client* client) {
  return trace_equal(client, CORE_CONTROL);
}

static bool whole(const struct client* client) {
  return delivered(client) && equal(client);
}

// ------------------------------------------------------------------------------- opening

static void set_inherit(struct perf_event_attr* attr) {
  attr->inherit = 1;
}
static void set_counting(struct perf_event_attr* attr) {
  attr->sample_period = 0;
}
static void set_precise(struct perf_event_attr* attr) {
  attr->precise_ip = 1;
}
static void set_aux_output(struct perf_event_attr* attr) {
  attr->aux_output = 1;
}
static void set_callchain(struct perf_event_attr* attr) {
  attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
}
static void set_read(struct perf_event_attr* attr) {
  attr->sample_type |= PERF_SAMPLE_READ;
}
static void set_freq(struct perf_event_attr* attr) {
  attr->freq = 1;
}
static void set_exclude(struct perf_event_attr* attr) {
  attr->exclude_kernel = 1;
}
static void set_backward(struct perf_event_attr* attr) {
  attr->write_backward = 1;
}
static void set_bad_type(struct perf_event_attr* attr) {
  attr->config |= 15;
}
static void set_config(struct perf_event_attr* attr) {
  attr->config |= 1 << 28;
}
static void set_config1(struct perf_event_attr* attr) {
  attr->config1 = 2;
}
static void set_config2(struct perf_event_attr* attr) {
  attr->config2 = 1;
}
static void set_pause(struct perf_event_attr* attr) {
  set_aux_action(attr, kPause);
}
static void set_resume(struct perf_event_attr* attr) {
  set_aux_action(attr, kResume);
}

static const struct {
  const char* what;
  void (*set)(struct perf_event_attr*);
  int error;
} bad_attrs[] = {
    {"inherit", set_inherit, EOPNOTSUPP},
    {"no sample_period", set_counting, EOPNOTSUPP},
    {"precise_ip", set_precise, EOPNOTSUPP},
    {"aux_output", set_aux_output, EOPNOTSUPP},
    {"call chains", set_callchain, EOPNOTSUPP},
    {"PERF_SAMPLE_READ", set_read, EOPNOTSUPP},
    {"freq", set_freq, EINVAL},
    {"exclude_kernel", set_exclude, EINVAL},
    {"write_backward", set_backward, EINVAL},
    {"an unknown htm_type", set_bad_type, EINVAL},
    {"bit 28 of config", set_config, EINVAL},
    {"bit 1 of config1", set_config1, EINVAL},
    {"config2", set_config2, EINVAL},
    {"aux_pause on the event itself", set_pause, EINVAL},
    {"aux_resume on the event itself", set_resume, EINVAL},
};

static void open_badly(void) {
  const int64_t before = control("calls CONFIGURE");
  for (size_t i = 0; i < sizeof(bad_attrs) / sizeof(bad_attrs[0]); i++) {
    struct perf_event_attr attr = client_attr(CORE);
    bad_attrs[i].set(&attr);
    const int got = open_event(&attr, -1, kCarrier, -1);
    tap(got == -bad_attrs[i].error, "%s: %s (%d)", bad_attrs[i].what,
        strerrorname_np(bad_attrs[i].error), got);
  }
  const struct perf_event_attr attr = client_attr(CORE);
  tap(open_event(&attr, 0, -1, -1) == -EINVAL, "of a task: EINVAL");
  tap(open_event(&attr, 0, kCarrier, -1) == -EINVAL, "of a task on a CPU: EINVAL");
  const struct perf_event_attr dummy = dummy_attr();
  const int leader = open_event(&dummy, -1, kCarrier, -1);
  tap(open_event(&attr, -1, kCarrier, leader) == -EINVAL, "a member of another's group: EINVAL");
  close(leader);
  tap(control("calls CONFIGURE") == before, "the hypervisor was asked nothing of all this");
}

static void open_several(void) {
  struct client client;
  begin(&client);
  const struct perf_event_attr same = client_attr(CORE);
  const struct perf_event_attr other = client_attr(HTM_CONFIG(kCore, 0, 0, 0));
  tap(open_event(&same, -1, kThird, -1) == -EBUSY, "a second event of the target: EBUSY");
  tap(open_event(&other, -1, kCarrier, -1) == -EBUSY, "a second event on the CPU: EBUSY");
  const int event = open_event(&other, -1, kThird, -1);
  tap(event >= 0, "another target on another CPU is another event");
  close(event);
  client_end(&client);

  const struct perf_event_attr nest = client_attr(HTM_CONFIG(kNest, 0, 1, 5));
  const struct perf_event_attr same_nest = client_attr(HTM_CONFIG(kNest, 0, 1, 9));
  const int first = open_event(&nest, -1, kCarrier, -1);
  tap(first >= 0 && open_event(&same_nest, -1, kThird, -1) == -EBUSY,
      "the core index of a nest target is ignored");
  close(first);
  tap(control("configured") == 0, "a closed event leaves nothing configured");
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
  // Armed anew in the background.
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
  tap(syscall(SYS_delete_module, "htm", O_NONBLOCK) == -1 && errno == EWOULDBLOCK,
      "the module cannot be unloaded while an event is open");
  trace(&client);
  client_drain(&client);
  tap(whole(&client), "and the event does not mind the attempt");
  client_end(&client);
}

static void set_online(int cpu, bool online) {
  char path[64];
  snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
  FILE* file = fopen(path, "w");
  if (file == NULL || fprintf(file, "%d", online) < 0 || fclose(file) != 0) die(path);
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

// ------------------------------------------------------------------------------- sysfs

// Reads the hypervisor's files as another user, with CAP_PERFMON alone or without it. Returns 16
// times the number of files that were read, plus the number of refusals with EACCES.
static int read_files_as_user(bool perfmon) {
  static const char* const files[] = {"capabilities", "status_nest", "status_core",
                                      "status_llat",  "topology",    "memory_map"};
  const pid_t child = fork();
  if (child < 0) die("fork");
  if (child == 0) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct caps[2] = {};
    if (perfmon) caps[1].permitted = caps[1].effective = UINT32_C(1) << (CAP_PERFMON - 32);
    if (prctl(PR_SET_KEEPCAPS, 1) != 0 || setuid(1000) != 0) _exit(255);
    if (syscall(SYS_capset, &header, caps) != 0) _exit(255);
    int result = 0;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
      char path[128], bytes[4096];
      snprintf(path, sizeof(path), "/sys/bus/event_source/devices/htm/%s", files[i]);
      const int file = open(path, O_RDONLY | O_CLOEXEC);
      const ssize_t got = file < 0 ? -1 : read(file, bytes, sizeof(bytes));
      if (got > 0) result += 16;
      if (got < 0 && errno == EACCES) result++;
      close(file);
    }
    _exit(result);
  }
  int status;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

static void read_files(void) {
  const int64_t calls = control("calls CAPABILITIES");
  tap_equal(read_files_as_user(false), 6,
            "without CAP_PERFMON no file of the hypervisor can be read");
  tap_equal(control("calls CAPABILITIES"), calls, "a refused read makes no hypervisor call");
  tap_equal(read_files_as_user(true), 6 * 16, "CAP_PERFMON is enough for each file");
}

int main(void) {
  read_files();
  open_badly();
  open_several();
  map_oddly();
  redirect();
  pause_output();
  read_oddly();
  read_group();
  // perf_event_read_local(), which BPF programs call, ends in the same callback as read(2).
  tap(true, "BPF read of the event # SKIP the guest's kernel has no bpf(2)");
  enable_again();
  wrap();
  unload();
  lose_carrier();
  tap(control("configured") == 0, "nothing is configured at the end");
  return tap_end();
}
