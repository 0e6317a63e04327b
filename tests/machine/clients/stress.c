// SPDX-License-Identifier: GPL-2.0-or-later
// stress SEED CYCLES [DIR] - four processes, each with its own carrier CPU, use htm events of three
// cores. In random order they open, map, enable, disable, pause, resume, read, unmap and close
// events, CYCLES times in total. Meanwhile the hypervisor refuses random calls. A trace that is
// reported as complete must equal the hypervisor's trace. With SEED 0 the program chooses a seed.
// Prints TAP.
//
// Each complete trace goes to DIR/TARGET.FIRST-LAST, a folder that can be decoded. The trace covers
// these STARTs of the core, counted from power-on.
//
// The machine has four CPUs; CPU I is core 4 * I of chip I of node 0.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/machine/clients/chance.h"
#include "tests/machine/clients/client.h"
#include "tests/machine/clients/control.h"
#include "tests/machine/clients/saved.h"
#include "tests/machine/clients/tap.h"
#include "tests/machine/clients/whole.h"

enum { kProcesses = 4, kSteps = 12 };
enum { kPauses = 2, kResumes = 4 };  // attr.aux_action, which older headers do not name

// Shared by all processes.
struct tally {
  uint64_t cycles, opened, refused, enabled, complete, empty, incomplete, wrong, resumed;
};
static struct tally* tally;

static const char* directory;

// Opens a group member that pauses or resumes the trace at an event on the carrier CPU.
static int open_member(const struct client* client, int carrier, uint64_t event, uint32_t action) {
  struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                 .size = sizeof(attr),
                                 .config = event,
                                 .sample_period = 1,
                                 .sample_type = PERF_SAMPLE_IDENTIFIER,
                                 .__reserved_3 = action};
  return (int)syscall(SYS_perf_event_open, &attr, -1, carrier, client->event, PERF_FLAG_FD_CLOEXEC);
}

struct cycle {
  struct client client;
  int carrier, core;  // the core is that of the CPU of the same number
  int64_t starts;     // STARTs of the core ahead of this cycle
  int members[2];
};

static int64_t starts_of(int core) {
  return control("starts 2 0 %d %d", core, 4 * core);
}

// Another process may use the core or the carrier CPU, so retry for some time.
static int open_event(const struct cycle* cycle, const struct perf_event_attr* attr) {
  int event = client_open(attr, cycle->carrier);
  for (int tries = 0; event == -EBUSY && tries < 50; tries++) {
    usleep(5000);
    event = client_open(attr, cycle->carrier);
  }
  return event;
}

static bool begin(struct cycle* cycle) {
  struct client* client = &cycle->client;
  struct perf_event_attr attr = client_attr(HTM_CONFIG(kCore, 0, cycle->core, 4 * cycle->core));
  attr.pinned = draw(2);
  attr.aux_watermark = draw(2) ? 1 : 0;
  *client = (struct client){.keep = true};
  client->event = open_event(cycle, &attr);
  if (client->event < 0) {
    count(&tally->refused);
    return false;
  }
  count(&tally->opened);
  cycle->starts = starts_of(cycle->core);
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  cycle->members[0] = cycle->members[1] = -1;
  if (draw(3) == 0) {
    cycle->members[0] = open_member(client, cycle->carrier, PERF_COUNT_SW_PAGE_FAULTS, kPauses);
    cycle->members[1] =
        open_member(client, cycle->carrier, PERF_COUNT_SW_CONTEXT_SWITCHES, kResumes);
    if (cycle->members[1] >= 0) count(&tally->resumed);
  }
  client_map_data(client, draw(4) == 0 ? page : 4 * page < 65536 ? 65536 : 4 * page);
  if (client_map_aux(client, (4 << draw(3)) * page, PROT_READ | PROT_WRITE) != 0) die("AUX");
  return true;
}

static void step(struct cycle* cycle) {
  struct client* client = &cycle->client;
  switch (draw(8)) {
    case 0:
    case 1:
      client_enable(client);
      count(&tally->enabled);
      break;
    case 2:
      client_disable(client);
      break;
    case 3:
      client_read(client);
      break;
    case 4:
      client_consume_part(client, draw(1 << 16));
      break;
    case 5:
      work_on(cycle->core, 1);
      break;
    case 6:
      sched_yield();
      break;
    default:
      if (draw(4) == 0) make_trouble(kAllAnswers);
      break;
  }
}

static void save(const struct cycle* cycle) {
  char target[32], path[4096];
  snprintf(target, sizeof(target), "n0.p%d.c%d", cycle->core, 4 * cycle->core);
  snprintf(path, sizeof(path), "%s/%s.%lld-%lld", directory, target, (long long)cycle->starts + 1,
           (long long)starts_of(cycle->core));
  save_trace(&cycle->client, path, target);
}

// Drains the rings, and checks that a trace reported as complete is complete.
static void judge(struct cycle* cycle) {
  struct client* client = &cycle->client;
  client_enable(client);
  if (!client_drain(client) || !client_complete(client)) {
    count(&tally->incomplete);
    return;
  }
  char macro[32];
  snprintf(macro, sizeof(macro), "2 0 %d %d", cycle->core, 4 * cycle->core);
  // Never started, for example because the event was paused.
  const bool empty = client->trace.size == 0;
  const bool trace = empty ? (uint64_t)control("checksum %s", macro) == checksum(NULL, 0)
                           : trace_equal(client, macro);
  const bool map = map_equal(client);
  if (trace && map) {
    count(empty ? &tally->empty : &tally->complete);
    if (!empty && directory != NULL) save(cycle);
    return;
  }
  count(&tally->wrong);
  printf("# core %d: trace %s, map %s\n", cycle->core, trace ? "right" : "wrong",
         map ? "right" : "wrong");
}

static void run_cycle(int process) {
  struct cycle cycle = {.carrier = draw(8) == 0 ? (int)draw(kProcesses) : process,
                        .core = 1 + (int)draw(kProcesses - 1)};
  count(&tally->cycles);
  if (draw(2) == 0) make_trouble(kAllAnswers);
  if (!begin(&cycle)) return;
  const unsigned steps = draw(kSteps);
  for (unsigned i = 0; i < steps; i++) step(&cycle);
  if (draw(4) != 0) judge(&cycle);
  for (int i = 0; i < 2; i++) {
    if (cycle.members[i] >= 0) close(cycle.members[i]);
  }
  client_end(&cycle.client);
}

static void run_process(int process, uint64_t seed, unsigned cycles) {
  chance_begin(seed, process);
  for (unsigned i = 0; i < cycles; i++) run_cycle(process);
  fflush(stdout);
  _exit(0);
}

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    fputs("usage: stress SEED CYCLES [DIR]\n", stderr);
    return 2;
  }
  directory = argv[3];
  uint64_t seed = strtoull(argv[1], NULL, 0);
  if (seed == 0) seed = (uint64_t)time(NULL);
  const unsigned cycles = (unsigned)atoi(argv[2]) / kProcesses;
  printf("# stress: seed %llu\n", (unsigned long long)seed);
  fflush(stdout);
  tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (tally == MAP_FAILED) die("memory");
  for (int process = 0; process < kProcesses; process++) {
    if (fork() == 0) run_process(process, seed, cycles);
  }
  int status, bad = 0;
  while (wait(&status) > 0) bad += status != 0;
  printf("# %llu cycles: %llu opened (%llu with pause and resume), %llu refused, %llu enables\n",
         (unsigned long long)tally->cycles, (unsigned long long)tally->opened,
         (unsigned long long)tally->resumed, (unsigned long long)tally->refused,
         (unsigned long long)tally->enabled);
  printf("# %llu complete, %llu empty, %llu incomplete\n", (unsigned long long)tally->complete,
         (unsigned long long)tally->empty, (unsigned long long)tally->incomplete);
  tap_equal(bad, 0, "each process reached its end");
  tap_equal((int64_t)tally->cycles, cycles * kProcesses, "the processes ran all cycles");
  tap(tally->opened >= tally->cycles / 4, "the processes opened many events");
  tap(tally->complete >= tally->cycles / 10, "many traces are complete");
  tap_equal((int64_t)tally->wrong, 0, "each complete trace equals the hypervisor's trace");
  return tap_end();
}
