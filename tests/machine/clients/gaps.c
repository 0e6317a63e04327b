// SPDX-License-Identifier: GPL-2.0-or-later
// gaps - when the core stops a requested trace, the driver reports the gap with an announcement and
// with PERF_AUX_FLAG_PARTIAL (kmod/ABI). An event that no client can read delivers no trace, and
// the driver reports this.
//
// The machine: CPU 0 is the carrier CPU. The traced core is the core of CPU 1: node 0, chip 1, core
// 4.
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/machine/clients/group.h"
#include "tests/machine/clients/processors.h"
#include "tests/machine/clients/tap.h"
#include "tests/machine/clients/traced_core.h"
#include "tests/machine/clients/untraced.h"

enum { kData = 1 << 18, kAux = 1 << 18, kWork = 5 };

static void begin(struct client* client) {
  control("clear");
  client_begin(client, CORE, kCarrier, kData, kAux);
}

// ------------------------------------------------------------------------------- the core's stops

// Starts another user's task with a pinned event. Whenever this task runs on the CPU, the core
// removes all events that are not pinned.
static pid_t start_rival(int rounds) {
  const pid_t child = fork();
  if (child < 0) die("fork");
  if (child != 0) return child;
  stay_on(kCarrier);
  struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                 .size = sizeof(attr),
                                 .config = PERF_COUNT_SW_TASK_CLOCK,
                                 .pinned = 1,
                                 .exclude_kernel = 1};
  if (open_event(&attr, 0, -1, -1) < 0) _exit(1);
  for (;;) {
    usleep(2000);
    if (write(rounds, "", 1) != 1) _exit(1);
  }
}

static void rival(bool pinned) {
  struct client client = {.keep = true};
  struct perf_event_attr attr = client_attr(CORE);
  attr.pinned = pinned;
  control("clear");
  client.event = client_open(&attr, kCarrier);
  client_map_data(&client, kData);
  client_map_aux(&client, kAux, PROT_READ | PROT_WRITE);
  client_enable(&client);
  enum { kRounds = 20 };
  int rounds[2];
  char done[1];
  if (pipe(rounds) != 0) die("pipe");
  const pid_t child = start_rival(rounds[1]);
  close(rounds[1]);
  for (int i = 0; i < kRounds; i++) {
    if (read(rounds[0], done, 1) != 1) die("the rival");
  }
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  close(rounds[0]);
  work_on(kTraced, kWork);
  const int64_t starts = control("calls START");
  client_drain(&client);
  if (pinned) {
    tap(starts == 1 && delivered(&client),
        "another user's pinned event does not disturb a pinned event");
  } else {
    tap(starts > 1, "another user's pinned event removes an unpinned event from its CPU");
    tap(client.announced[kGap] != 0 && client.gaps_why & kRescheduled && partial(&client),
        "the driver announces the removal as a gap, and flags the trace");
  }
  show(&client);
  client_end(&client);
}

static struct perf_event_attr noisy_attr(void) {
  return (struct perf_event_attr){.type = PERF_TYPE_SOFTWARE,
                                  .size = sizeof(struct perf_event_attr),
                                  .config = PERF_COUNT_SW_CPU_CLOCK,
                                  .sample_period = 1000000,
                                  .sample_type = PERF_SAMPLE_IP};
}

// Kernels earlier than 6.16 throttle only the member.
static bool throttles_groups(void) {
  struct utsname name;
  unsigned major, minor;
  if (uname(&name) != 0 || sscanf(name.release, "%u.%u", &major, &minor) != 2) die("uname");
  return major > 6 || minor >= 16;
}

// The core stops the group until the next tick. The client reads earlier.
static void read_while_throttled(void) {
  if (!throttles_groups()) {
    tap(true,
        "a read while the group is throttled # SKIP kernels before Linux 6.16 throttle only the "
        "member");
    return;
  }
  bool met = false, flagged = true, announced = true;
  for (int i = 0; i < 50 && !met; i++) {
    struct client client;
    begin(&client);
    const struct perf_event_attr noisy = noisy_attr();
    const int member = open_event(&noisy, -1, kCarrier, client.event);
    client_enable(&client);
    for (int tries = 0; tries < 20000 && state() == kTracing; tries++) continue;
    const bool stopped = state() == kStopped;
    client_read(&client);
    met = stopped && control("calls START") == 1;
    event_ioctl(member, PERF_EVENT_IOC_DISABLE, 0);
    client_drain(&client);
    if (met) flagged = partial(&client);
    if (met) announced = client.announced[kGap] != 0 && client.gaps_why & kThrottled;
    close(member);
    if (met) show(&client);
    client_end(&client);
  }
  tap(met, "the client reads the event while the core throttles the group");
  tap(flagged && announced, "the driver announces the missing end as a gap, and flags the trace");
}

static void map_after_enable(void) {
  struct client client = {.keep = true};
  const struct perf_event_attr attr = client_attr(CORE);
  control("clear");
  client.event = client_open(&attr, kCarrier);
  client_enable(&client);
  work_on(kTraced, kWork);
  client_map_data(&client, kData);
  client_map_aux(&client, kAux, PROT_READ | PROT_WRITE);
  tap(state() == kStopped, "mapping rings after ENABLE stops the trace");
  work_on(kTraced, kWork);
  client_drain(&client);
  tap(partial(&client) && client.announced[kGap] == 1 && client.gaps_why == kRings,
      "the driver announces this stop as a gap, and flags the trace");
  tap(equal(&client), "the driver delivers the trace before the stop");
  show(&client);
  client_end(&client);
}

// Opens an event that writes a sample for each page fault on the carrier CPU: 8 bytes and a header.
static int open_filler(const struct client* client) {
  struct perf_event_attr attr = dummy_attr();
  attr.config = PERF_COUNT_SW_PAGE_FAULTS;
  attr.sample_period = 1;
  attr.sample_type = PERF_SAMPLE_IP;
  const int filler = open_event(&attr, -1, kCarrier, -1);
  if (filler < 0 || event_ioctl(filler, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)client->event)) {
    die("the filler of the ring");
  }
  return filler;
}

static uint64_t room(const struct client* client) {
  const uint64_t head = __atomic_load_n(&client->page->data_head, __ATOMIC_ACQUIRE);
  return client->data_bytes - (head - client->page->data_tail);
}

// The AUX record that should have the flag finds no room: the ring has room for an announcement (48
// bytes), but not for an AUX record (64 bytes) after it. The gap is a throttled group or a late
// START.
static void flag_without_room(bool throttled) {
  enum { kAnnouncement = 48, kAuxRecord = 64, kPages = 4096 };
  struct client client = {.keep = true};
  struct perf_event_attr attr = client_attr(CORE);
  attr.sample_type &= ~(uint64_t)PERF_SAMPLE_RAW;
  control("clear");
  if (!throttled) put_off_start();
  client.event = client_open(&attr, kCarrier);
  client_map_data(&client, (size_t)sysconf(_SC_PAGESIZE));
  client_map_aux(&client, kAux, PROT_READ | PROT_WRITE);
  const int filler = open_filler(&client);
  const struct perf_event_attr noisy = noisy_attr();
  const int member = throttled ? open_event(&noisy, -1, kCarrier, client.event) : -1;
  client_enable(&client);
  if (throttled) {
    // The core starts the group again at the next tick.
    for (int i = 0; i < 1000 && control("calls START") < 2; i++) usleep(1000);
    event_ioctl(member, PERF_EVENT_IOC_DISABLE, 0);
  } else {
    give_in();
  }
  for (int i = 0; i < 200 && state() != kTracing; i++) usleep(10000);
  usleep(10000);
  work_on(kTraced, 20);

  stay_on(kCarrier);
  char* pages = mmap(NULL, kPages * client.page_bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < kPages && room(&client) > kAnnouncement + kAuxRecord; i++) {
    pages[(size_t)i * client.page_bytes] = 1;
  }
  event_ioctl(filler, PERF_EVENT_IOC_DISABLE, 0);
  munmap(pages, kPages * client.page_bytes);
  const uint64_t left = room(&client);
  client_read(&client);
  const uint64_t after = room(&client);
  stay_on(kAnyCpu);
  tap(left > kAnnouncement && after == left - kAnnouncement && client_waiting(&client) > 0,
      "a read moves a part of the trace, and its AUX record finds no room");
  client_consume(&client);
  tap(!partial(&client), "the lost record does not deliver the flag");
  client_drain(&client);
  tap(partial(&client), "a later record delivers the flag");
  if (throttled) close(member);
  close(filler);
  show(&client);
  client_end(&client);
}

// ------------------------------------------------------------------------------- empty reads

static void read_of_nothing(void) {
  struct client client;
  begin(&client);
  client_enable(&client);
  work_on(kTraced, 20);
  client_read(&client);
  tap(client.last.value > 0, "a read delivers data");
  client_disable(&client);
  client_read(&client);
  tap_equal((int64_t)client.last.value, 0, "after DISABLE, a read returns 0");
  const double began = now();
  tap(client_drain(&client) && now() - began < 2, "a reader reaches the end at once");
  tap(client.announced[kTraceEnd] == 0, "the driver announces no end of the trace");
  client_enable(&client);
  client_drain(&client);
  tap(whole(&client), "after another ENABLE, the driver delivers the rest");
  show(&client);
  client_end(&client);

  // The carrier CPU goes offline.
  control("clear");
  client_begin(&client, HTM_CONFIG(kCore, 0, 0, 0), 2, kData, kAux);
  client_enable(&client);
  work_on(0, 20);
  client_read(&client);
  set_online(2, false);
  client_read(&client);
  tap_equal((int64_t)client.last.value, 0, "a read returns 0 while the carrier CPU is offline");
  show(&client);
  client_end(&client);
  set_online(2, true);
}

int main(void) {
  rival(false);
  rival(true);
  read_while_throttled();
  map_after_enable();
  flag_without_room(false);
  if (throttles_groups()) flag_without_room(true);
  read_of_nothing();
  tap_equal(control("configured"), 0, "no macro stays configured");
  return tap_end();
}
