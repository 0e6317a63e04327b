// SPDX-License-Identifier: GPL-2.0-or-later
// pausing DIR [storm] - members of an htm event's group pause and resume the event. The machine has
// two processors: core 0 of chip 0, and core 4 of chip 1. Traces go to DIR/regions and DIR/storm,
// as folders that can be decoded. DIR/regions/labels has the addresses of the two loops below, the
// traced loop and the untraced loop.
//
// The storm puts probes into an NMI handler. A 7.3 debug kernel of powerpc prints warnings about
// these probes, with or without an htm event.
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/machine/clients/client.h"
#include "tests/machine/clients/control.h"
#include "tests/machine/clients/group.h"
#include "tests/machine/clients/processors.h"
#include "tests/machine/clients/saved.h"
#include "tests/machine/clients/tap.h"
#include "tests/machine/clients/whole.h"

#define CARRIER_CORE "2 0 0 0"
#define OTHER_CORE "2 0 1 4"

enum { kCarrier = 0, kOther = 1, kData = 1 << 18, kAux = 1 << 20, kRounds = 50, kTurns = 100 };
enum { kPartial = 4 };  // PERF_AUX_FLAG_PARTIAL

// One round: code between resume and pause, and code after the pause.
__asm__(
    ".globl one_round, resume_here, traced_here, pause_here, untraced_here\n"
    "one_round:\n"
    "  li 4, 100\n"
    "  mtctr 4\n"
    "resume_here:\n"
    "  nop\n"
    "traced_here:\n"
    "  addi 5, 5, 1\n"
    "  bdnz traced_here\n"
    "pause_here:\n"
    "  nop\n"
    "  li 4, 100\n"
    "  mtctr 4\n"
    "untraced_here:\n"
    "  addi 6, 6, 1\n"
    "  bdnz untraced_here\n"
    "  blr\n");
extern const char resume_here[], traced_here[], pause_here[], untraced_here[];
void one_round(void);

static const char* directory;

static const char* folder(const char* name) {
  static char path[4096];
  snprintf(path, sizeof(path), "%s/%s", directory, name);
  return path;
}

static int64_t calls(const char* operation) {
  return control("calls %s", operation);
}

// An htm event and two members of its group.
struct group {
  struct client client;
  int members[2];
};

static void begin(struct group* group, uint64_t config, uint32_t action,
                  struct perf_event_attr* first, struct perf_event_attr* second) {
  *group = (struct group){.client.keep = true};
  struct perf_event_attr attr = client_attr(config);
  set_aux_action(&attr, action);
  group->client.event = client_open(&attr, kCarrier);
  struct perf_event_attr* const attrs[2] = {first, second};
  for (unsigned i = 0; i < 2; i++) {
    group->members[i] = open_event(attrs[i], -1, kCarrier, group->client.event);
    if (group->members[i] >= 0) continue;
    errno = -group->members[i];
    die("member of the group");
  }
  client_map_data(&group->client, kData);
  if (client_map_aux(&group->client, kAux, PROT_READ | PROT_WRITE) != 0) die("AUX ring");
}

static void end(struct group* group) {
  close(group->members[0]);
  close(group->members[1]);
  client_end(&group->client);
}

static void begin_regions(struct group* group) {
  struct perf_event_attr pause = uprobe_attr(pause_here), resume = uprobe_attr(resume_here);
  set_aux_action(&pause, kPause);
  set_aux_action(&resume, kResume);
  control("clear");
  begin(group, HTM_CONFIG(kCore, 0, 0, 0), kStartPaused, &pause, &resume);
}

// Only the code between resume and pause is traced, on the carrier itself.
static void regions(void) {
  struct group group;
  begin_regions(&group);
  client_enable(&group.client);
  tap(calls("START") == 0, "aux_start_paused: ENABLE issues no START");
  for (int i = 0; i < kRounds; i++) one_round();
  tap(calls("START") == kRounds && calls("STOP") == kRounds,
      "each resume issues a START, and each pause a STOP");
  client_drain(&group.client);
  tap(trace_equal(&group.client, CARRIER_CORE) && delivered(&group.client),
      "the driver delivers all stretches as one trace, without a flag");
  one_round();
  tap(calls("START") == kRounds, "a resume during the drain has no effect");
  save_trace(&group.client, folder("regions"), "n0.p0.c0");
  end(&group);
  FILE* labels = create_in(folder("regions"), "labels");
  fprintf(labels, "%016" PRIxPTR " %016" PRIxPTR " %d\n", (uintptr_t)traced_here,
          (uintptr_t)untraced_here, kRounds * kTurns);
  fclose(labels);
}

// A disabled event is neither paused nor resumed. Actions of members meanwhile take effect
// afterwards.
static void regions_and_ordinary_stops(void) {
  struct group group;
  begin_regions(&group);
  one_round();
  tap(calls("START") == 0, "a resume before ENABLE has no effect");
  client_enable(&group.client);
  one_round();
  client_disable(&group.client);
  one_round();
  tap(calls("START") == 1, "a resume after DISABLE has no effect");
  client_enable(&group.client);
  tap(calls("START") == 1, "ENABLE of a paused event issues no START");
  one_round();
  client_drain(&group.client);
  tap(calls("START") == 2 && trace_equal(&group.client, CARRIER_CORE) && delivered(&group.client),
      "a resume after ENABLE continues the trace, and all stretches form one trace");
  end(&group);
}

static void busy_regions(void) {
  struct group group;
  begin_regions(&group);
  control("START every=3 H_LONG_BUSY_ORDER_1_MSEC");
  control("STOP every=4 H_LONG_BUSY_ORDER_1_MSEC");
  control("STOP every=5 H_BUSY");
  client_enable(&group.client);
  // While the driver waits in the background, many rounds can run unseen.
  for (int i = 0; i < 40 * kRounds; i++) {
    one_round();
    if (i < kRounds) continue;
    if (control("injected START") > 0 && control("injected STOP") > 0) break;
    usleep(5000);
  }
  client_drain(&group.client);
  tap(control("injected START") > 0 && control("injected STOP") > 0,
      "the hypervisor was busy at pauses and resumes");
  tap(trace_equal(&group.client, CARRIER_CORE), "the driver delivers all traced parts completely");
  tap(group.client.announced[kGap] != 0 && group.client.gaps_why == kLate &&
          group.client.aux_flags == kPartial,
      "the driver announces and flags the gap of a late resume");
  end(&group);
}

static void refused_resume(void) {
  struct group group;
  begin_regions(&group);
  control("START nth=1 H_HARDWARE");
  client_enable(&group.client);
  one_round();
  for (int i = 0; i < 100 && group.client.announced[kErrorTold] == 0; i++) {
    usleep(10000);
    client_consume(&group.client);
  }
  tap(group.client.announced[kErrorTold] == 1 && group.client.said[kErrorTold] >> 48 == 5,
      "the driver announces a refused resume, and disables the event in the background");
  client_enable(&group.client);
  one_round();
  client_drain(&group.client);
  tap(trace_equal(&group.client, CARRIER_CORE), "ENABLE after a refused resume starts the trace");
  end(&group);
  control("clear");
}

// ------------------------------------------------------------------------------- throttling

static void set_sample_rate(unsigned rate) {
  FILE* file = fopen("/proc/sys/kernel/perf_event_max_sample_rate", "w");
  if (file == NULL || fprintf(file, "%u", rate) < 0 || fclose(file) != 0) die("sample rate");
}

// A member with many samples makes the core stop the whole group until the next tick.
static void throttle(void) {
  struct group group;
  struct perf_event_attr dummy = dummy_attr();
  struct perf_event_attr noisy = {.type = PERF_TYPE_SOFTWARE,
                                  .size = sizeof(noisy),
                                  .config = PERF_COUNT_SW_CPU_CLOCK,
                                  .sample_period = 1000000,
                                  .sample_type = PERF_SAMPLE_IP};
  control("clear");
  set_sample_rate(100);
  begin(&group, HTM_CONFIG(kCore, 0, 0, 0), 0, &noisy, &dummy);
  client_enable(&group.client);
  for (const double until = now() + 0.3; now() < until;) one_round();
  client_drain(&group.client);
  set_sample_rate(100000);
  tap(calls("START") > 1, "the core stops and restarts a throttled group");
  tap(group.client.aux_flags == kPartial, "PERF_AUX_FLAG_PARTIAL flags the gap");
  tap(trace_equal(&group.client, CARRIER_CORE), "what was traced is delivered whole");
  end(&group);
}

// ------------------------------------------------------------------------------- the storm

// Makes endless system calls with locks and disabled interrupts.
static pid_t make_noise(void) {
  const pid_t child = fork();
  if (child < 0) die("fork");
  if (child != 0) return child;
  stay_on(kCarrier);
  int ends[2];
  char byte = 0;
  if (pipe(ends) != 0) _exit(1);
  for (;;) {
    if (write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1) _exit(1);
    sched_yield();
    void* page = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *(volatile char*)page = 1;
    munmap(page, 65536);
  }
}

static pid_t make_work(void) {
  const pid_t child = fork();
  if (child < 0) die("fork");
  if (child != 0) return child;
  stay_on(kOther);
  static volatile unsigned count;
  for (;;) {
    for (int i = 0; i < 200; i++) count = count + 1;
    usleep(1000);
  }
}

// Counts samples whose probe was hit in an NMI: TRACE_FLAG_NMI in the raw data's flags, after size
// and type.
static unsigned count_nmi(const struct client* ring) {
  enum { kHeader = 8, kFlags = kHeader + 4 + 2, kNmi = 0x40 };
  unsigned count = 0;
  uint64_t tail = ring->page->data_tail;
  const uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
  while (tail < head) {
    struct perf_event_header header;
    for (size_t i = 0; i < sizeof(header); i++) {
      ((uint8_t*)&header)[i] = ring->data[(tail + i) % ring->data_bytes];
    }
    if (header.type == PERF_RECORD_SAMPLE) {
      count += (ring->data[(tail + kFlags) % ring->data_bytes] & kNmi) != 0;
    }
    if (header.size == 0) break;
    tail += header.size;
  }
  __atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
  return count;
}

// Probes in the performance monitor interrupt's handler pause and resume the event. This interrupt
// is an NMI wherever interrupts are disabled. Meanwhile the event is enabled and disabled, and the
// hypervisor is sometimes busy.
static void storm(void) {
  struct group group;
  struct perf_event_attr pause = kprobe_attr("perf_event_overflow");
  struct perf_event_attr resume = kprobe_attr("perf_event_output_forward");
  set_aux_action(&pause, kPause);
  set_aux_action(&resume, kResume);
  control("clear");
  control("START every=7 H_LONG_BUSY_ORDER_1_MSEC");
  control("STOP every=5 H_LONG_BUSY_ORDER_1_MSEC");
  control("STOP every=3 H_BUSY");
  begin(&group, HTM_CONFIG(kCore, 0, 1, 4), 0, &pause, &resume);
  struct client ring = {.event = group.members[0]};
  client_map_data(&ring, kData);

  struct perf_event_attr cycles = {.type = PERF_TYPE_HARDWARE,
                                   .size = sizeof(cycles),
                                   .config = PERF_COUNT_HW_CPU_CYCLES,
                                   .sample_period = 1000000,
                                   .sample_type = PERF_SAMPLE_IP};
  struct client sampler = {.event = open_event(&cycles, -1, kCarrier, -1)};
  tap(sampler.event >= 0, "the performance monitor counts cycles");
  if (sampler.event < 0) return;
  client_map_data(&sampler, kData);

  const pid_t noise = make_noise(), work = make_work();
  stay_on(kOther);
  unsigned nmi = 0, toggles = 0;
  // Enough rounds on a fast machine, long before the trace memory is full.
  enum { kToggles = 60, kHits = 20 };
  for (const double until = now() + 2; now() < until && (toggles < kToggles || nmi < kHits);
       toggles++) {
    client_enable(&group.client);
    usleep(3000);
    client_disable(&group.client);
    nmi += count_nmi(&ring);
    client_consume(&sampler);
    client_consume(&group.client);
  }
  client_enable(&group.client);
  kill(noise, SIGKILL);
  kill(work, SIGKILL);
  client_drain(&group.client);
  printf("# %u hits in an NMI, %u times enabled, %" PRId64 " STARTs, %" PRId64 " STOPs\n", nmi,
         toggles, calls("START"), calls("STOP"));
  tap(nmi > 0, "some pauses occurred in an NMI");
  tap(calls("START") > 2 * (int64_t)toggles, "members paused and resumed the trace many times");
  tap(group.client.announced[kErrorTold] == 0 && trace_equal(&group.client, OTHER_CORE),
      "what was traced is delivered whole");
  save_trace(&group.client, folder("storm"), "n0.p1.c4");
  close(sampler.event);
  end(&group);
  control("clear");
}

int main(int argc, char** argv) {
  if (argc != 2 && (argc != 3 || strcmp(argv[2], "storm") != 0)) {
    fputs("usage: pausing DIR [storm]\n", stderr);
    return 2;
  }
  directory = argv[1];
  stay_on(kCarrier);
  regions();
  regions_and_ordinary_stops();
  busy_regions();
  refused_resume();
  throttle();
  if (argc == 3) storm();
  tap(control("configured") == 0, "no macro stays configured");
  return tap_end();
}
