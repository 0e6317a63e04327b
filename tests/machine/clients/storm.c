// SPDX-License-Identifier: GPL-2.0-or-later
// storm SECONDS SEED DIR - random operations on the driver, for at least SECONDS and twenty traces.
//
//   - Three processes trace one core each, and interrupt their own traces in every way.
//   - A fourth process issues random operations: events of random attrs, ioctls, maps, SET_OUTPUT,
//     fork, offline processors, attempts to unload the driver, pinned events of other users.
//   - The hypervisor refuses random calls.
//
// Each process writes its requests and the driver's announcements to the hypervisor's journal.
// `storm-compare` reads the journal and checks that the driver announced every gap. Complete traces
// go to DIR, as in `stress`. With SEED 0 the program chooses a seed.
//
// The machine has four CPUs; CPU I is core 4 * I of chip I of node 0. Processes 1 to 3 trace the
// core of the same number.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/machine/clients/chance.h"
#include "tests/machine/clients/client.h"
#include "tests/machine/clients/control.h"
#include "tests/machine/clients/group.h"
#include "tests/machine/clients/processors.h"
#include "tests/machine/clients/saved.h"
#include "tests/machine/clients/tap.h"
#include "tests/machine/clients/whole.h"

enum { kCpus = 4, kSteps = 14, kMostSaved = 20, kChaosEvents = 6, kLeast = 20 };

// Counters that the processes share.
struct tally {
  uint64_t traces, refused, ended, wrong, saved, chaos, unloaded;
  // Perf's core has a defect (Linux 7.3, also with software events only): when a CPU goes offline,
  // the core detaches its events from their groups. A member that joins such a leader later keeps a
  // pointer to the leader, also after the leader is freed. So no member joins an event that was
  // open when a CPU went offline: processes read-lock while they open a group, and write-lock while
  // a CPU goes offline.
  pthread_rwlock_t groups;
};
static struct tally* tally;
static const char* directory;
static double end_time, last_time;

// True if SECONDS have passed and kLeast traces have ended, which takes longer on a busy machine.
static bool over(void) {
  const double at = now();
  return at >= last_time ||
         (at >= end_time && __atomic_load_n(&tally->ended, __ATOMIC_RELAXED) >= kLeast);
}

// ------------------------------------------------------------------------------- a trace

struct trace {
  struct client client;
  unsigned id;  // in the journal
  int carrier, core;
  int64_t starts;
  int noise;  // a group member with many samples, or -1
  pid_t rival;
};

static int64_t starts_of(int core) {
  return control("starts 2 0 %d %d", core, 4 * core);
}

static void mark(const struct trace* trace, const char* what) {
  control("mark %u %s", trace->id, what);
}

// Opens the event of a trace and sometimes a noisy member of its group. Returns the event or
// -errno.
static int open_group(struct trace* trace, const struct perf_event_attr* attr) {
  static const struct perf_event_attr noise = {.type = PERF_TYPE_SOFTWARE,
                                               .size = sizeof(noise),
                                               .config = PERF_COUNT_SW_CPU_CLOCK,
                                               .sample_period = 1000000,
                                               .sample_type = PERF_SAMPLE_IP};
  pthread_rwlock_rdlock(&tally->groups);
  const int event = client_open(attr, trace->carrier);
  trace->noise = -1;
  if (event >= 0 && draw(3) == 0) trace->noise = open_event(&noise, -1, trace->carrier, event);
  pthread_rwlock_unlock(&tally->groups);
  return event;
}

static bool open_trace(struct trace* trace) {
  struct client* client = &trace->client;
  struct perf_event_attr attr = client_attr(HTM_CONFIG(kCore, 0, trace->core, 4 * trace->core));
  attr.pinned = draw(2);
  attr.aux_watermark = draw(2) ? 1 : 0;
  *client = (struct client){.keep = true};
  client->event = open_group(trace, &attr);
  if (client->event < 0) {
    count(&tally->refused);
    return false;
  }
  count(&tally->traces);
  trace->starts = starts_of(trace->core);
  control("mark %u open core.n0.p%d.c%d", trace->id, trace->core, 4 * trace->core);
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  client_map_data(client, 4 * page < 65536 ? 65536 : 4 * page);
  if (client_map_aux(client, (4 << draw(3)) * page, PROT_READ | PROT_WRITE) != 0) die("AUX");
  return true;
}

// A pinned event of another user's task, which sometimes runs on the carrier CPU.
static pid_t start_rival(int carrier) {
  const pid_t child = fork();
  if (child != 0) return child;
  if (!try_stay_on(carrier)) _exit(0);
  const struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                       .size = sizeof(attr),
                                       .config = PERF_COUNT_SW_TASK_CLOCK,
                                       .pinned = 1,
                                       .exclude_kernel = 1};
  if (open_event(&attr, 0, -1, -1) < 0) _exit(1);
  for (int i = 0; i < 200; i++) usleep(2000);
  _exit(0);
}

static void remap(struct client* client) {
  const size_t bytes = client->aux_bytes;
  client_consume(client);
  munmap(client->aux, bytes);
  client->aux = NULL;
  if (client_map_aux(client, bytes, PROT_READ | PROT_WRITE) != 0) die("AUX");
}

static void step(struct trace* trace) {
  struct client* client = &trace->client;
  switch (draw(10)) {
    case 0:
    case 1:
    case 2:
      client_enable(client);
      mark(trace, "enabled");
      break;
    case 3:
      mark(trace, "disable");
      client_disable(client);
      break;
    case 4:
      client_consume_part(client, draw(1 << 16));
      break;
    case 5:
    case 6:
      try_work_on(trace->core, 1);
      break;
    case 7:
      if (trace->rival <= 0) trace->rival = start_rival(trace->carrier);
      break;
    case 8:
      if (draw(2) == 0) remap(client);
      break;
    default:
      make_trouble(draw(4) == 0 ? kFewRefusals : kBusyAnswers);
      if (draw(2) == 0) usleep(1000 * draw(10));
      break;
  }
}

static void save(const struct trace* trace) {
  char target[32], path[4096];
  if (__atomic_add_fetch(&tally->saved, 1, __ATOMIC_RELAXED) > kMostSaved) return;
  snprintf(target, sizeof(target), "n0.p%d.c%d", trace->core, 4 * trace->core);
  snprintf(path, sizeof(path), "%s/%s.%lld-%lld", directory, target, (long long)trace->starts + 1,
           (long long)starts_of(trace->core));
  save_trace(&trace->client, path, target);
}

// Drains the trace, and writes the announcements to the journal.
static void finish(struct trace* trace) {
  struct client* client = &trace->client;
  client_enable(client);
  mark(trace, "enabled");
  try_work_on(trace->core, 1);
  mark(trace, "read");
  client_drain(client);
  control("mark %u late %" PRIu64, trace->id, told_ns(client->said[kStarted]));
  control("mark %u gaps %" PRIu64, trace->id, client->gaps_ns);
  control("mark %u errors %" PRIu64, trace->id, client->announced[kErrorTold]);
  control("mark %u flags %" PRIu64, trace->id, client->aux_flags);
  const bool ended =
      client->announced[kTraceEnd] == 1 && client->said[kTraceEnd] == client->trace_bytes;
  // The driver announces a refused dump, and no reader can receive the missing part.
  if (ended && client->announced[kErrorTold] == 0 && client->trace.size > 0) {
    char macro[32];
    snprintf(macro, sizeof(macro), "2 0 %d %d", trace->core, 4 * trace->core);
    if (!trace_equal(client, macro)) {
      count(&tally->wrong);
      printf("# trace %u differs from the hypervisor's trace\n", trace->id);
    } else if (client->announced[kMapEnd] == 1 && client->said[kMapEnd] == client->map_bytes) {
      // Without the complete memory map, some instructions have no logical address.
      save(trace);
    }
  }
  if (ended) count(&tally->ended);
  mark(trace, ended ? "end" : "none");
}

static void run_tracer(int process) {
  for (unsigned i = 0; !over(); i++) {
    struct trace trace = {.id = (unsigned)process * 1000000 + i,
                          .carrier = (int)draw(kCpus),
                          .core = process,
                          .rival = -1};
    if (!open_trace(&trace)) {
      usleep(1000 * (1 + draw(10)));
      continue;
    }
    const unsigned steps = draw(kSteps);
    for (unsigned n = 0; n < steps; n++) step(&trace);
    finish(&trace);
    if (trace.rival > 0) {
      kill(trace.rival, SIGKILL);
      waitpid(trace.rival, NULL, 0);
    }
    if (trace.noise >= 0) close(trace.noise);
    client_end(&trace.client);
    mark(&trace, "closed");
  }
}

// ------------------------------------------------------------------------------- random operations

// The attr of an htm or dummy event, with a few random bits flipped.
static struct perf_event_attr random_attr(void) {
  struct perf_event_attr attr =
      draw(2) ? client_attr(HTM_CONFIG(1 + draw(3), 0, draw(5), draw(16))) : dummy_attr();
  for (unsigned i = draw(4); i > 0; i--) {
    const size_t at = 8 + draw(sizeof(attr) - 8);
    ((uint8_t*)&attr)[at] ^= (uint8_t)(1u << draw(8));
  }
  if (draw(8) == 0) attr.size = draw(256);
  // Clear these fields: the core's own limits on samples, or a full log, do not test the driver.
  attr.sigtrap = attr.bpf_event = attr.ksymbol = 0;
  return attr;
}

static void random_ioctl(const int* events) {
  static const unsigned long requests[] = {
      PERF_EVENT_IOC_ENABLE,     PERF_EVENT_IOC_DISABLE, PERF_EVENT_IOC_RESET,
      PERF_EVENT_IOC_PERIOD,     PERF_EVENT_IOC_REFRESH, PERF_EVENT_IOC_SET_OUTPUT,
      PERF_EVENT_IOC_SET_OUTPUT, PERF_EVENT_IOC_ID,      PERF_EVENT_IOC_PAUSE_OUTPUT};
  static uint64_t word;
  const unsigned long request = requests[draw(9)];
  const int other = events[draw(kChaosEvents)];
  word = draw(1000);
  unsigned long argument = draw(2);
  if (request == PERF_EVENT_IOC_SET_OUTPUT) argument = (unsigned long)(draw(4) ? other : -1);
  if (request == PERF_EVENT_IOC_PERIOD || request == PERF_EVENT_IOC_ID) {
    argument = (unsigned long)&word;
  }
  event_ioctl(events[draw(kChaosEvents)], request, argument);
}

// Maps a data ring, and possibly an AUX area, of random sizes, and unmaps them at once. Sometimes
// the ring stays mapped.
static void random_map(int event) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), data = page << draw(4);
  struct perf_event_mmap_page* control_page =
      mmap(NULL, page + data, PROT_READ | (draw(4) ? PROT_WRITE : 0), MAP_SHARED, event, 0);
  if (control_page == MAP_FAILED) return;
  if (draw(2) && event_ioctl(event, PERF_EVENT_IOC_ID, (unsigned long)&(uint64_t){0}) == 0) {
    const size_t aux = page << draw(5);
    // Read-only control pages cannot ask for an AUX area.
    if (mprotect(control_page, page, PROT_READ | PROT_WRITE) == 0) {
      control_page->aux_offset = page + data;
      control_page->aux_size = aux;
      void* area = mmap(NULL, aux, PROT_READ | (draw(4) ? PROT_WRITE : 0), MAP_SHARED, event,
                        (off_t)(page + data));
      event_ioctl(event, PERF_EVENT_IOC_ENABLE, 0);
      if (draw(2)) munmap(control_page, page + data);
      if (area != MAP_FAILED) munmap(area, aux);
      return;
    }
  }
  munmap(control_page, page + data);
}

static void run_chaos(void) {
  int events[kChaosEvents];
  bool can_lead[kChaosEvents] = {};
  char bytes[256];
  for (int i = 0; i < kChaosEvents; i++) events[i] = -1;
  const struct perf_event_attr keeper_attr = client_attr(HTM_CONFIG(kNest, 0, 0, 0));
  while (!over()) {
    const unsigned at = draw(kChaosEvents);
    count(&tally->chaos);
    switch (draw(10)) {
      case 0:
      case 1:
      case 2: {
        const struct perf_event_attr attr = random_attr();
        if (events[at] >= 0) close(events[at]);
        const unsigned leader = draw(kChaosEvents);
        const int group = draw(3) == 0 && can_lead[leader] ? events[leader] : -1;
        events[at] =
            open_event(&attr, draw(8) ? -1 : 0, (int)draw(kCpus + 1) - (draw(8) == 0), group);
        can_lead[at] = true;
        break;
      }
      case 3:
      case 4:
        random_ioctl(events);
        break;
      case 5:
        if (events[at] >= 0) random_map(events[at]);
        break;
      case 6:
        if (events[at] >= 0 && read(events[at], bytes, draw(sizeof(bytes))) < 0) errno = 0;
        break;
      case 7: {
        const pid_t child = fork();
        if (child == 0) {
          random_ioctl(events);
          if (events[at] >= 0) random_map(events[at]);
          _exit(0);
        }
        if (child > 0) waitpid(child, NULL, 0);
        break;
      }
      case 8: {
        // Unload only while an event is open, so that the attempt must fail.
        const int keeper = client_open(&keeper_attr, 0);
        if (keeper < 0) break;
        if (syscall(SYS_delete_module, "htm", O_NONBLOCK) == 0) count(&tally->unloaded);
        close(keeper);
        break;
      }
      default:
        if (draw(10) == 0) {
          const int cpu = 2 + (int)draw(2);
          pthread_rwlock_wrlock(&tally->groups);
          memset(can_lead, false, sizeof(can_lead));
          set_online(cpu, false);
          pthread_rwlock_unlock(&tally->groups);
          usleep(1000 * draw(50));
          set_online(cpu, true);
        }
        break;
    }
  }
}

int main(int argc, char** argv) {
  if (argc != 4) {
    fputs("usage: storm SECONDS SEED DIR\n", stderr);
    return 2;
  }
  directory = argv[3];
  uint64_t seed = strtoull(argv[2], NULL, 0);
  if (seed == 0) seed = (uint64_t)time(NULL);
  printf("# storm: seed %" PRIu64 "\n", seed);
  fflush(stdout);
  end_time = now() + atof(argv[1]);
  last_time = now() + 10 * atof(argv[1]);
  tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (tally == MAP_FAILED) die("memory");
  pthread_rwlockattr_t shared;
  pthread_rwlockattr_init(&shared);
  pthread_rwlockattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
  pthread_rwlock_init(&tally->groups, &shared);
  for (int process = 0; process < kCpus; process++) {
    if (fork() != 0) continue;
    chance_begin(seed, process);
    if (process == 0) {
      run_chaos();
    } else {
      run_tracer(process);
    }
    fflush(stdout);
    _exit(0);
  }
  int status, bad = 0;
  while (wait(&status) > 0) bad += status != 0;
  printf("# %" PRIu64 " traces, %" PRIu64 " with their end; %" PRIu64 " opens refused; %" PRIu64
         " other operations\n",
         tally->traces, tally->ended, tally->refused, tally->chaos);
  tap_equal(bad, 0, "each process reached its end");
  tap(tally->ended >= kLeast, "traces reached their end");
  tap_equal((int64_t)tally->wrong, 0, "each of these traces equals the hypervisor's trace");
  tap_equal((int64_t)tally->unloaded, 0, "the driver cannot be unloaded while an event is open");
  tap_equal(control("configured"), 0, "no macro stays configured");
  return tap_end();
}
