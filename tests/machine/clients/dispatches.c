// SPDX-License-Identifier: GPL-2.0-or-later
// dispatches SCENARIO PREFIX - a client of the vpa_dtl PMU on all online CPUs. The client uses only
// features that both drivers of that name have. It writes the entries of CPU N to PREFIX.N
// unchanged, 48 bytes each. PREFIX.told has a line "CPU FLAGS LOG_FULL AREA_FULL NOT_LOGGED TAKEN
// ALIVE" for each CPU: the AUX flags of all records and the announcements (kmod/ABI-vpa_dtl).
//
//   stop       runs for 0.5 s with a period of 0.2 s, and stops without waiting for the driver
//   full       does not read an AUX area of 8 KiB, or one page, for 0.5 s
//   again      enables and disables the events twenty times, and changes the period meanwhile
//   behaviour  prints TAP: pauses, another user of the log, a second opener, an unmapped AUX area
//              (our driver only)
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/machine/clients/client.h"
#include "tests/machine/clients/group.h"
#include "tests/machine/clients/tap.h"

enum {
  kMostEvents = 16,
  kEntry = 48,
  kTimebase = 16,
  kDataRing = 1 << 18,
  kAll = 7,
  kKinds = 5,
  kSleepUs = 500000,
};

struct log {
  int event, cpu;
  size_t page_bytes, aux_bytes;
  struct perf_event_mmap_page* page;
  const uint8_t* data;
  const uint8_t* aux;
  FILE* file;  // NULL: only count the entries
  uint8_t slot[kEntry];
  size_t in_slot;
  uint64_t entries, flags, told[kKinds];
};

static struct perf_event_attr attr_of(uint64_t period_ns) {
  return (struct perf_event_attr){
      .type = pmu_type("vpa_dtl"),
      .size = sizeof(struct perf_event_attr),
      .config = kAll,
      .sample_period = period_ns,
      .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
      .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
      .disabled = 1,
      .pinned = 1,
      .sample_id_all = 1,
  };
}

static void map_aux(struct log* log) {
  log->page->aux_offset = log->page_bytes + kDataRing;
  log->page->aux_size = log->aux_bytes;
  log->aux = mmap(NULL, log->aux_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, log->event,
                  (off_t)log->page->aux_offset);
  if (log->aux == MAP_FAILED) die("AUX area");
}

static void begin(struct log* log, int cpu, const struct perf_event_attr* attr, size_t aux_bytes) {
  *log = (struct log){.cpu = cpu, .aux_bytes = aux_bytes};
  log->event = open_event(attr, -1, cpu, -1);
  if (log->event < 0) {
    errno = -log->event;
    die("open");
  }
  log->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
  log->page =
      mmap(NULL, log->page_bytes + kDataRing, PROT_READ | PROT_WRITE, MAP_SHARED, log->event, 0);
  if (log->page == MAP_FAILED) die("data ring");
  log->data = (const uint8_t*)log->page + log->page_bytes;
  map_aux(log);
}

// Disables the event before unmapping the rings: with its own driver, the kernel would crash.
static void end(struct log* log) {
  ioctl(log->event, PERF_EVENT_IOC_DISABLE, 0);
  if (log->aux != NULL) munmap((void*)log->aux, log->aux_bytes);
  munmap(log->page, log->page_bytes + kDataRing);
  close(log->event);
  if (log->file != NULL && fclose(log->file) != 0) die("entries");
}

static void take_slot(struct log* log) {
  uint64_t timebase;
  memcpy(&timebase, log->slot + kTimebase, sizeof(timebase));
  if (timebase == 0) return;  // the clock
  log->entries++;
  if (log->file != NULL && fwrite(log->slot, kEntry, 1, log->file) != 1) die("entries");
}

static void take_records(struct log* log) {
  const uint64_t head = __atomic_load_n(&log->page->data_head, __ATOMIC_ACQUIRE);
  uint64_t tail = log->page->data_tail;
  while (tail < head) {
    uint64_t words[8] = {0};
    struct perf_event_header header;
    for (size_t i = 0; i < 8; i++) {
      memcpy(&words[i], log->data + (tail + i * 8) % kDataRing, 8);
    }
    memcpy(&header, words, sizeof(header));
    if (header.size == 0) die("a record");
    if (header.type == PERF_RECORD_AUX) log->flags |= words[3];
    if (header.type == PERF_RECORD_AUX_OUTPUT_HW_ID && words[1] >> 56 < kKinds) {
      log->told[words[1] >> 56] += words[1] & ((UINT64_C(1) << 56) - 1);
    }
    tail += header.size;
  }
  __atomic_store_n(&log->page->data_tail, tail, __ATOMIC_RELEASE);
}

// Reads consecutive slots. Both drivers write slots without padding up to the end of the area.
static void take(struct log* log) {
  take_records(log);
  const uint64_t head = __atomic_load_n(&log->page->aux_head, __ATOMIC_ACQUIRE);
  uint64_t tail = log->page->aux_tail;
  for (; tail < head; tail++) {
    log->slot[log->in_slot++] = log->aux[tail % log->aux_bytes];
    if (log->in_slot == kEntry) {
      take_slot(log);
      log->in_slot = 0;
    }
  }
  __atomic_store_n(&log->page->aux_tail, tail, __ATOMIC_RELEASE);
}

static bool is_alive(const struct log* log) {
  uint64_t before[3], after[3];
  if (read(log->event, before, sizeof(before)) != sizeof(before)) return false;
  usleep(10000);
  if (read(log->event, after, sizeof(after)) != sizeof(after)) return false;
  return after[2] > before[2];
}

static void for_all(struct log* logs, int count, unsigned long request) {
  for (int i = 0; i < count; i++) {
    if (ioctl(logs[i].event, request, 0) != 0) die("ioctl");
  }
}

static int begin_all(struct log* logs, const char* prefix, uint64_t period_ns, size_t aux_bytes) {
  const int count = (int)sysconf(_SC_NPROCESSORS_ONLN);
  const struct perf_event_attr attr = attr_of(period_ns);
  if (count > kMostEvents) die("too many CPUs");
  for (int i = 0; i < count; i++) {
    char path[256];
    begin(&logs[i], i, &attr, aux_bytes);
    snprintf(path, sizeof(path), "%s.%d", prefix, i);
    logs[i].file = fopen(path, "wb");
    if (logs[i].file == NULL) die(path);
  }
  return count;
}

static void end_all(struct log* logs, int count, const bool* alive, const char* prefix) {
  char path[256];
  snprintf(path, sizeof(path), "%s.told", prefix);
  FILE* told = fopen(path, "w");
  if (told == NULL) die(path);
  for (int i = 0; i < count; i++) {
    fprintf(told, "%d %lu %lu %lu %lu %lu %d\n", i, logs[i].flags, logs[i].told[1], logs[i].told[2],
            logs[i].told[3], logs[i].told[4], alive[i]);
    end(&logs[i]);
  }
  fclose(told);
}

static void take_all(struct log* logs, int count) {
  for (int i = 0; i < count; i++) take(&logs[i]);
}

static int stop(const char* prefix) {
  struct log logs[kMostEvents];
  const bool alive[kMostEvents] = {0};
  const int count = begin_all(logs, prefix, 200000000, 1 << 20);
  for_all(logs, count, PERF_EVENT_IOC_ENABLE);
  usleep(kSleepUs);
  for_all(logs, count, PERF_EVENT_IOC_DISABLE);
  take_all(logs, count);
  end_all(logs, count, alive, prefix);
  return 0;
}

static size_t least_area(void) {
  const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
  return page_bytes < 8192 ? 8192 : page_bytes;
}

static int full(const char* prefix) {
  struct log logs[kMostEvents];
  bool alive[kMostEvents];
  const int count = begin_all(logs, prefix, 2000000, least_area());
  for_all(logs, count, PERF_EVENT_IOC_ENABLE);
  usleep(kSleepUs);
  for (int i = 0; i < 100; i++) {
    take_all(logs, count);
    usleep(2000);
  }
  for (int i = 0; i < count; i++) alive[i] = is_alive(&logs[i]);
  for_all(logs, count, PERF_EVENT_IOC_DISABLE);
  take_all(logs, count);
  end_all(logs, count, alive, prefix);
  return 0;
}

static int again(const char* prefix) {
  struct log logs[kMostEvents];
  const bool alive[kMostEvents] = {0};
  const int count = begin_all(logs, prefix, 5000000, 1 << 20);
  for (uint64_t round = 0; round < 20; round++) {
    for_all(logs, count, PERF_EVENT_IOC_ENABLE);
    usleep(20000);
    for (int i = 0; i < count; i++) {
      uint64_t period_ns = 300000 * (round + 1);
      if (ioctl(logs[i].event, PERF_EVENT_IOC_PERIOD, &period_ns) != 0) die("period");
    }
    usleep(20000);
    for_all(logs, count, PERF_EVENT_IOC_DISABLE);
    take_all(logs, count);
  }
  end_all(logs, count, alive, prefix);
  return 0;
}

// Counts the entries of CPU 0 in 0.1 s.
static uint64_t logged(struct log* log) {
  take(log);
  const uint64_t before = log->entries;
  usleep(100000);
  ioctl(log->event, PERF_EVENT_IOC_DISABLE, 0);
  take(log);
  return log->entries - before;
}

// A busy host delays the guest, so the client waits up to kRounds * kRoundUs for an expected event.
enum { kRounds = 50, kRoundUs = 100000 };

// Waits for new entries of CPU 0, then stops the log. Returns true if entries came before the stop.
static bool entries_come(struct log* log) {
  take(log);
  const uint64_t before = log->entries;
  for (int i = 0; i < kRounds && log->entries == before; i++) {
    usleep(kRoundUs);
    take(log);
  }
  const bool come = log->entries > before;
  ioctl(log->event, PERF_EVENT_IOC_DISABLE, 0);
  take(log);
  return come;
}

// On a slow host, the driver can look at the log too late. The log is then full, and entries are
// lost. After this loss, and after no other, a check repeats its whole scenario.
static bool is_due(int attempt, const struct log* last) {
  if (attempt == 0) return true;
  const bool only_full = last->told[1] != 0 && last->told[2] + last->told[3] + last->told[4] == 0;
  return attempt < 5 && only_full;
}

static void enable(const struct log* log) {
  if (ioctl(log->event, PERF_EVENT_IOC_ENABLE, 0) != 0) die("enable");
}

static int add_member(const struct log* log, uint64_t event, bool resume) {
  struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                 .size = sizeof(struct perf_event_attr),
                                 .config = event,
                                 .sample_period = 1,
                                 .sample_type = PERF_SAMPLE_IDENTIFIER};
  set_aux_action(&attr, resume ? kResume : kPause);
  const int member = open_event(&attr, -1, log->cpu, log->event);
  if (member < 0) {
    errno = -member;
    die("member");
  }
  return member;
}

static void check_pauses(void) {
  struct log log;
  struct perf_event_attr attr = attr_of(1000000);
  set_aux_action(&attr, kStartPaused);
  begin(&log, 0, &attr, 1 << 16);
  enable(&log);
  tap_equal((int64_t)logged(&log), 0, "an event that starts paused delivers no entries");
  end(&log);

  bool arrived = true;
  for (int i = 0; is_due(i, &log); i++) {
    begin(&log, 0, &attr, 1 << 16);
    const int resumes = add_member(&log, PERF_COUNT_SW_CONTEXT_SWITCHES, true);
    enable(&log);
    arrived = entries_come(&log) && arrived;
    close(resumes);
    end(&log);
  }
  tap(arrived, "a member resumes the event: entries arrive");
  tap_equal((int64_t)log.flags, 0, "no entry is missing after the resume");

  set_aux_action(&attr, 0);
  begin(&log, 0, &attr, 1 << 16);
  const int pauses = add_member(&log, PERF_COUNT_SW_CONTEXT_SWITCHES, false);
  enable(&log);
  usleep(50000);
  tap_equal((int64_t)logged(&log), 0, "a member pauses the event: no more entries arrive");
  tap_equal((int64_t)log.flags, 0, "the driver counts no loss for a pause");
  close(pauses);
  end(&log);
}

static void check_rival(void) {
  struct log log;
  const struct perf_event_attr attr = attr_of(1000000);
  const char* path = "/sys/kernel/debug/powerpc/dtl/cpu-0";
  begin(&log, 0, &attr, 1 << 16);
  enable(&log);
  usleep(50000);
  const int rival = open(path, O_RDONLY);
  if (rival < 0) die(path);
  for (int i = 0; i < kRounds && log.told[4] == 0; i++) {
    usleep(kRoundUs);
    take(&log);
  }
  tap(!is_alive(&log), "another user takes the log: the event ends");
  tap((log.flags & PERF_AUX_FLAG_COLLISION) != 0,
      "another user takes the log: the driver sets PERF_AUX_FLAG_COLLISION");
  tap((log.flags & PERF_AUX_FLAG_PARTIAL) != 0,
      "another user takes the log: the driver sets PERF_AUX_FLAG_PARTIAL");
  tap_equal((int64_t)log.told[4], 1, "another user takes the log: the driver announces TAKEN");
  const int other = open_event(&attr, -1, 1, -1);
  tap(other >= 0, "the log of another CPU can still be opened");
  close(other);
  end(&log);
  tap_equal(open_event(&attr, -1, 0, -1), -EBUSY, "open of the taken log fails with EBUSY");
  uint8_t entries[kEntry * 80];
  while (read(rival, entries, sizeof(entries)) == sizeof(entries)) continue;  // the earlier entries
  ssize_t bytes = 0;
  for (int i = 0; i < kRounds && bytes == 0; i++) {
    usleep(kRoundUs);
    bytes = read(rival, entries, sizeof(entries));
  }
  tap(bytes > 0, "the other user still receives entries");
  close(rival);

  begin(&log, 0, &attr, 1 << 16);
  enable(&log);
  tap(entries_come(&log), "the log can be opened again after the other user closes it");
  tap_equal((int64_t)log.flags, 0, "no entry is missing from the reopened log");
  end(&log);
}

static void check_opening(void) {
  struct log log;
  struct perf_event_attr attr = attr_of(1000000);
  bool busy = true, arrived = true;
  for (int i = 0; is_due(i, &log); i++) {
    begin(&log, 0, &attr, 1 << 16);
    enable(&log);
    busy = open_event(&attr, -1, 0, -1) == -EBUSY && busy;
    arrived = entries_come(&log) && arrived;
    end(&log);
  }
  tap(busy, "a second open on a CPU fails with EBUSY");
  tap(arrived, "the first event still receives entries");
  tap_equal((int64_t)log.flags, 0, "the second open causes no loss");
  tap_equal(open_event(&attr, 0, -1, -1), -EINVAL, "open for a task fails with EINVAL");
  attr.config = 3;
  tap_equal(open_event(&attr, -1, 0, -1), -EINVAL, "open of an undefined event fails with EINVAL");
  attr = attr_of(0);
  tap_equal(open_event(&attr, -1, 0, -1), -EOPNOTSUPP,
            "open without a period fails with EOPNOTSUPP");
  attr = attr_of(1);
  begin(&log, 0, &attr, 1 << 16);
  enable(&log);
  tap(entries_come(&log), "an event with a period of 1 ns delivers entries");
  end(&log);
  attr.freq = 1;
  attr.sample_freq = 500;
  begin(&log, 0, &attr, 1 << 16);
  enable(&log);
  tap(entries_come(&log), "an event with a frequency delivers entries");
  end(&log);
}

static void check_unmapping(void) {
  struct log log;
  const struct perf_event_attr attr = attr_of(1000000);
  begin(&log, 0, &attr, 1 << 16);
  enable(&log);
  usleep(50000);
  take(&log);
  munmap((void*)log.aux, log.aux_bytes);
  usleep(50000);
  tap(is_alive(&log), "an enabled event stays usable after its AUX area is unmapped");
  log.page->aux_tail = log.page->aux_head;
  map_aux(&log);
  log.in_slot = 0;
  tap(entries_come(&log), "the event delivers entries to a new AUX area");
  end(&log);
}

// Runs on CPU 0, so that each sleep switches tasks there.
static int behaviour(void) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(0, &cpus);
  if (sched_setaffinity(0, sizeof(cpus), &cpus) != 0) die("affinity");
  check_pauses();
  // The kernel's debugfs file holds a lock while it is open, which makes lockdep stop.
  if (access("/proc/lockdep_stats", F_OK) != 0) check_rival();
  check_opening();
  check_unmapping();
  return tap_end();
}

int main(int argc, char** argv) {
  if (argc == 3 && strcmp(argv[1], "stop") == 0) return stop(argv[2]);
  if (argc == 3 && strcmp(argv[1], "full") == 0) return full(argv[2]);
  if (argc == 3 && strcmp(argv[1], "again") == 0) return again(argv[2]);
  if (argc == 2 && strcmp(argv[1], "behaviour") == 0) return behaviour();
  fputs("usage: dispatches stop|full|again PREFIX\n       dispatches behaviour\n", stderr);
  return 2;
}
