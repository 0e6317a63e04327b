// SPDX-License-Identifier: GPL-2.0-or-later
// gaps - the driver reports each gap in a trace with an announcement and with PERF_AUX_FLAG_PARTIAL
// (kmod/ABI), and an older request never undoes a newer one.
//
// The machine: carrier CPU 0; the core of CPU 1 is node 0, chip 1, core 4, and is traced.
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/machine/clients/client.h"
#include "tests/machine/clients/control.h"
#include "tests/machine/clients/group.h"
#include "tests/machine/clients/tap.h"
#include "tests/machine/clients/whole.h"

enum { kCarrier = 0, kTraced = 1, kData = 1 << 18, kAux = 1 << 18, kWork = 5 };
enum { kReserved, kConfigured, kTracing, kStopped };  // the hypervisor's "state"
#define CORE HTM_CONFIG(kCore, 0, 1, 4)
#define CORE_CONTROL "2 0 1 4"
#define MILLISECONDS(n) ((uint64_t)(n)*1000000)

static int64_t state(void) {
  return control("state " CORE_CONTROL);
}

// Binds this process to the carrier CPU, or lets it run on any CPU.
static void stay_on_carrier(bool stay) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  for (int cpu = 0; cpu < (stay ? 1 : CPU_SETSIZE); cpu++) CPU_SET(cpu, &cpus);
  if (sched_setaffinity(0, sizeof(cpus), &cpus) != 0) die("affinity");
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void begin(struct client* client) {
  control("clear");
  client_begin(client, CORE, kCarrier, kData, kAux);
}

// Waits for an announcement of this kind.
static bool await(struct client* client, int kind) {
  for (int i = 0; i < 500 && client->announced[kind] == 0; i++) {
    usleep(10000);
    client_consume(client);
  }
  return client->announced[kind] != 0;
}

// Prints the facts that explain a failure.
static void show(const struct client* client) {
  printf("# started %" PRIu64 " times (why %#x, %" PRIu64 " ns), %" PRIu64
         " gaps (why %#x, last %" PRIu64 " ns), %" PRIu64 " errors (%#" PRIx64 "), flags %#" PRIx64
         "\n",
         client->announced[kStarted], told_why(client->said[kStarted]),
         told_ns(client->said[kStarted]), client->announced[kGap], client->gaps_why,
         told_ns(client->said[kGap]), client->announced[kErrorTold], client->said[kErrorTold],
         client->aux_flags);
}

static bool partial(const struct client* client) {
  return (client->aux_flags & PERF_AUX_FLAG_PARTIAL) != 0;
}

// ------------------------------------------------------------------------------- the begin

// From now on the hypervisor delays START, until the test lets it continue.
static void put_off_start(void) {
  control("START from=1 H_LONG_BUSY_ORDER_10_MSEC");
}

static void give_in(void) {
  usleep(150000);
  control("clear");
}

static void begin_at_once(void) {
  struct client client;
  begin(&client);
  client_enable(&client);
  client_consume(&client);
  tap(client.announced[kStarted] == 1 && told_why(client.said[kStarted]) == 0,
      "the driver announces the begin of a trace at once");
  work_on(kTraced, kWork);
  client_drain(&client);
  tap(delivered(&client) && trace_equal(&client, CORE_CONTROL) && client.announced[kGap] == 0,
      "the trace is then complete");
  show(&client);
  client_end(&client);
}

static void begin_late(void) {
  struct client client;
  begin(&client);
  put_off_start();
  client_enable(&client);
  work_on(kTraced, kWork);
  client_consume(&client);
  tap(state() == kConfigured && client.announced[kStarted] == 0,
      "a START that the hypervisor delays is not announced");
  give_in();
  tap(await(&client, kStarted) && state() == kTracing,
      "the driver announces START when the macro traces");
  const uint64_t said = client.said[kStarted];
  tap(told_why(said) == kLate && told_ns(said) >= MILLISECONDS(100) &&
          told_ns(said) < MILLISECONDS(5000),
      "the announcement has the delay and the reason: finished in the background");
  work_on(kTraced, kWork);
  client_drain(&client);
  tap(partial(&client) && client.announced[kGap] == 0, "the trace is flagged");
  tap(trace_equal(&client, CORE_CONTROL), "the traced part is delivered");
  show(&client);
  client_end(&client);

  begin(&client);
  put_off_start();
  client_enable(&client);
  work_on(kTraced, kWork);
  client_read(&client);
  give_in();
  client_drain(&client);
  tap(client.announced[kGap] == 1 && told_why(client.said[kGap]) & kLate && partial(&client),
      "a trace that was read too early is flagged, and its gap is announced");
  show(&client);
  client_end(&client);
}

// ------------------------------------------------------------------------------- the core's stops

// The hypervisor delays a resume by a group member.
static void late_resume(void) {
  struct client client = {.keep = true};
  struct perf_event_attr attr = client_attr(CORE);
  struct perf_event_attr member = dummy_attr();
  control("clear");
  set_aux_action(&attr, kStartPaused);
  client.event = client_open(&attr, kCarrier);
  if (client.event == -EINVAL || client.event == -E2BIG) {
    tap(true, "a late resume # SKIP this kernel has no aux_pause");
    return;
  }
  member.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
  member.sample_period = 1;
  member.sample_type = PERF_SAMPLE_IP;
  set_aux_action(&member, kResume);
  const int resume = open_event(&member, -1, kCarrier, client.event);
  client_map_data(&client, kData);
  client_map_aux(&client, kAux, PROT_READ | PROT_WRITE);
  put_off_start();
  client_enable(&client);
  stay_on_carrier(true);
  give_in();
  tap(await(&client, kStarted) && told_why(client.said[kStarted]) == kLate &&
          told_ns(client.said[kStarted]) >= MILLISECONDS(100),
      "a late resume is announced with its delay");
  stay_on_carrier(false);
  work_on(kTraced, kWork);
  client_drain(&client);
  tap(partial(&client), "a late resume is flagged");
  close(resume);
  show(&client);
  client_end(&client);
}

// Another user's task with a pinned event. Whenever the task gets the CPU, the core removes all
// events that are not pinned.
static pid_t start_rival(int rounds) {
  const pid_t child = fork();
  if (child < 0) die("fork");
  if (child != 0) return child;
  stay_on_carrier(true);
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
        "the removal is announced as a gap, and flagged");
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

// The core stops the group until the next tick, and the read precedes this tick.
static void read_while_throttled(void) {
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
    show(&client);
    client_end(&client);
  }
  tap(met, "an event is read while the core throttles its group");
  tap(flagged && announced, "the missing end is flagged, and announced as a gap");
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
  tap(state() == kStopped, "rings that are mapped after ENABLE stop the trace");
  work_on(kTraced, kWork);
  client_drain(&client);
  tap(partial(&client) && client.announced[kGap] == 1 && client.gaps_why == kRings,
      "this stop is flagged, and announced as a gap");
  tap(trace_equal(&client, CORE_CONTROL), "the trace before the stop is delivered");
  show(&client);
  client_end(&client);
}

// Samples of eight bytes besides the header, one for each page fault on the carrier CPU.
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
// bytes), but not for an AUX record (64 bytes) after it.
static void flag_without_room(void) {
  enum { kAnnouncement = 48, kAuxRecord = 64, kPages = 4096 };
  struct client client = {.keep = true};
  struct perf_event_attr attr = client_attr(CORE);
  attr.sample_type &= ~(uint64_t)PERF_SAMPLE_RAW;
  control("clear");
  put_off_start();
  client.event = client_open(&attr, kCarrier);
  client_map_data(&client, (size_t)sysconf(_SC_PAGESIZE));
  client_map_aux(&client, kAux, PROT_READ | PROT_WRITE);
  const int filler = open_filler(&client);
  client_enable(&client);
  give_in();
  for (int i = 0; i < 200 && state() != kTracing; i++) usleep(10000);
  usleep(10000);
  work_on(kTraced, 20);

  stay_on_carrier(true);
  char* pages = mmap(NULL, kPages * client.page_bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < kPages && room(&client) > kAnnouncement + kAuxRecord; i++) {
    pages[(size_t)i * client.page_bytes] = 1;
  }
  event_ioctl(filler, PERF_EVENT_IOC_DISABLE, 0);
  const uint64_t left = room(&client);
  client_read(&client);
  const uint64_t after = room(&client);
  stay_on_carrier(false);
  tap(left > kAnnouncement && after == left - kAnnouncement && client_waiting(&client) > 0,
      "a piece of the trace is moved, and its AUX record finds no room");
  client_consume(&client);
  tap(!partial(&client), "the flag is not delivered with this record");
  client_drain(&client);
  tap(partial(&client), "a later record delivers the flag");
  close(filler);
  show(&client);
  client_end(&client);
}

// ------------------------------------------------------------------------------- the newer request

// The hypervisor refuses START in the background while the event is disabled and enabled again.
static void newer_enable(void) {
  enum { kTimes = 100 };
  unsigned killed = 0, wrong = 0;
  struct client client = {.keep = true};
  struct perf_event_attr attr = client_attr(CORE);
  attr.pinned = 0;
  control("clear");
  client.event = client_open(&attr, kCarrier);
  client_map_data(&client, kData);
  client_map_aux(&client, kAux, PROT_READ | PROT_WRITE);
  for (unsigned i = 0; i < kTimes; i++) {
    control("clear");
    control("START nth=1 H_HARDWARE");
    client_enable(&client);
    for (volatile unsigned delay = 0; delay < i * 20; delay++) continue;
    client_disable(&client);
    client_enable(&client);
    usleep(3000);
    client_consume(&client);
    killed += state() != kTracing && control("calls START") > 1;
    client_disable(&client);
  }
  wrong = client.announced[kErrorTold] > kTimes;
  tap_equal(killed, 0, "a refused START does not end the trace of a newer ENABLE");
  tap(client.announced[kErrorTold] > 0 && wrong == 0, "each refusal is announced at most once");
  show(&client);
  client_end(&client);
}

// ------------------------------------------------------------------------------- reads of nothing

static void set_online(int cpu, bool online) {
  char path[64];
  snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
  FILE* file = fopen(path, "w");
  if (file == NULL || fprintf(file, "%d", online) < 0 || fclose(file) != 0) die(path);
}

static void read_of_nothing(void) {
  struct client client;
  begin(&client);
  client_enable(&client);
  work_on(kTraced, 20);
  client_read(&client);
  tap(client.last.value > 0, "a read delivers data");
  client_disable(&client);
  client_read(&client);
  tap_equal((int64_t)client.last.value, 0, "after DISABLE a read gives 0");
  const double began = now();
  tap(client_drain(&client) && now() - began < 2, "a reader reaches the end at once");
  tap(client.announced[kTraceEnd] == 0, "no end of the trace is announced");
  client_enable(&client);
  client_drain(&client);
  tap(delivered(&client) && trace_equal(&client, CORE_CONTROL),
      "after ENABLE the rest is delivered");
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
  tap_equal((int64_t)client.last.value, 0, "a read gives 0 when the carrier CPU is offline");
  show(&client);
  client_end(&client);
  set_online(2, true);
}

int main(void) {
  begin_at_once();
  begin_late();
  late_resume();
  rival(false);
  rival(true);
  read_while_throttled();
  map_after_enable();
  flag_without_room();
  newer_enable();
  read_of_nothing();
  tap_equal(control("configured"), 0, "nothing stays configured");
  return tap_end();
}
