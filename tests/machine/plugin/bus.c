// SPDX-License-Identifier: GPL-2.0-or-later
#include "bus.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "bus_oracle.h"
#include "config.h"
#include "memory_map.h"
#include "nest_trace.h"

enum { kLineBytes = 128, kSectorBytes = 32, kSets = 1024 };

enum state { kInvalid, kShared, kExclusive, kModified };

struct line {
  uint64_t real;  // address of its first byte
  enum state state;
};

struct cache {
  _Atomic(struct htm*) htm;  // macro of its chip; NULL while the macro does not trace
  uint64_t fetched;          // line of the last fetch
  uint8_t transactions;
  struct line lines[kSets];
};

static struct cache caches[kMaxVcpus];
static struct oracle_file* oracles[kMaxVcpus];  // indexed by the chip's first vCPU
static const char* directory;
// Protects the data of this file and the current traces. Acquired after a macro's own lock.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void bus_init(const char* oracle_directory) {
  directory = oracle_directory;
}

// The bus's clock. A tick is 128 ns, so that the distance of two commands mostly fits the four bits
// of a record. The duration of a real machine's tick is not public.
static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return ((uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec) >> 7;
}

bool bus_chip(const struct htm* htm, unsigned vcpu) {
  const struct core_location* at = &config.cores[vcpu];
  return at->present && at->node == htm->node && at->chip == htm->chip;
}

static struct oracle_file** oracle_of(const struct htm* htm) {
  unsigned first = 0;
  while (!bus_chip(htm, first)) first++;
  return &oracles[first];
}

void bus_start(struct htm* htm) {
  pthread_mutex_lock(&lock);
  for (unsigned vcpu = 0; vcpu < kMaxVcpus; vcpu++) {
    if (!bus_chip(htm, vcpu)) continue;
    memset(caches[vcpu].lines, 0, sizeof(caches[vcpu].lines));
    caches[vcpu].fetched = UINT64_MAX;
    caches[vcpu].htm = htm;
  }
  const uint64_t tick = now();
  nest_trace_start(htm, tick);
  htm->lost_before_start = htm->lost_commands;
  if (directory != NULL) {
    struct oracle_file** oracle = oracle_of(htm);
    if (*oracle == NULL) *oracle = bus_oracle_open(directory, htm->node, htm->chip);
    bus_oracle_start(*oracle, tick);
  }
  pthread_mutex_unlock(&lock);
}

void bus_stop(struct htm* htm) {
  pthread_mutex_lock(&lock);
  for (unsigned vcpu = 0; vcpu < kMaxVcpus; vcpu++) {
    if (bus_chip(htm, vcpu)) caches[vcpu].htm = NULL;
  }
  nest_trace_stop(htm, now());
  struct oracle_file* oracle = *oracle_of(htm);
  if (oracle != NULL) bus_oracle_stop(oracle, htm->lost_commands - htm->lost_before_start);
  pthread_mutex_unlock(&lock);
}

bool bus_watches(unsigned vcpu) {
  return atomic_load_explicit(&caches[vcpu].htm, memory_order_relaxed) != NULL;
}

// ------------------------------------------------------------------------------- commands

static void command(struct htm* htm, unsigned vcpu, enum bus_operation operation, uint64_t real,
                    unsigned response) {
  const struct bus_command command = {.operation = operation,
                                      .response = response,
                                      .core = config.cores[vcpu].core,
                                      .transaction = caches[vcpu].transactions++ % 32,
                                      .real = real,
                                      .machine = machine_address(real),
                                      .tick = now()};
  if (!nest_trace_command(htm, &command)) {
    htm->lost_commands++;
    return;
  }
  htm->captured_commands++;
  struct oracle_file* oracle = *oracle_of(htm);
  if (oracle != NULL) bus_oracle_command(oracle, &command);
}

// Another cache's reaction to a command for one of its lines. Returns whether the cache held the
// line.
static bool snoop(unsigned vcpu, uint64_t real, bool store) {
  bool had = false;
  for (unsigned other = 0; other < kMaxVcpus; other++) {
    struct line* line = &caches[other].lines[real / kLineBytes % kSets];
    if (other == vcpu || caches[other].htm == NULL) continue;
    if (line->state == kInvalid || line->real != real) continue;
    had = true;
    line->state = store ? kInvalid : kShared;
  }
  return had;
}

// Codes of combined responses, from the tables of hw-trace's parser for POWER9 (its pull request
// 1).
enum {
  kGoExclusive = 0x01,     // read: go_Me:ed; rwitm: go_M:ed; dclaim: go_M
  kGoSharedSource = 0x04,  // read: go_Sl:T
  kGoModifiedTo = 0x03,    // rwitm: go_M:T
  kDone = 0x04,            // addr_ack_done
};

static void fill(struct htm* htm, unsigned vcpu, struct line* line, uint64_t real, bool store) {
  const uint64_t first = real & ~(uint64_t)(kLineBytes - 1);
  const uint64_t sector = real & ~(uint64_t)(kSectorBytes - 1);
  if (line->state == kModified) command(htm, vcpu, kCastOut, line->real, kDone);
  const bool had = snoop(vcpu, first, store);
  if (store) {
    command(htm, vcpu, kReadToModify, sector, had ? kGoModifiedTo : kGoExclusive);
  } else {
    command(htm, vcpu, kRead, sector, had ? kGoSharedSource : kGoExclusive);
  }
  line->real = first;
  line->state = store ? kModified : had ? kShared : kExclusive;
}

static void touch(struct htm* htm, unsigned vcpu, uint64_t real, bool store) {
  const uint64_t first = real & ~(uint64_t)(kLineBytes - 1);
  struct line* line = &caches[vcpu].lines[real / kLineBytes % kSets];
  if (line->state == kInvalid || line->real != first) {
    fill(htm, vcpu, line, real, store);
  } else if (store) {
    if (line->state == kShared) {
      snoop(vcpu, first, true);
      command(htm, vcpu, kClaim, first, kGoExclusive);
    }
    line->state = kModified;
  }
}

void bus_fetch(unsigned vcpu, uint64_t real) {
  struct cache* cache = &caches[vcpu];
  const uint64_t first = real & ~(uint64_t)(kLineBytes - 1);
  if (cache->fetched == first) return;
  pthread_mutex_lock(&lock);
  struct htm* htm = cache->htm;
  if (htm != NULL) {
    cache->fetched = first;
    touch(htm, vcpu, real, false);
  }
  pthread_mutex_unlock(&lock);
}

void bus_access(unsigned vcpu, uint64_t real, uint64_t size, bool store, bool device) {
  pthread_mutex_lock(&lock);
  struct htm* htm = caches[vcpu].htm;
  if (htm != NULL && device) {
    command(htm, vcpu, store ? kDeviceWrite : kDeviceRead, real & ~UINT64_C(3), kDone);
  } else if (htm != NULL) {
    touch(htm, vcpu, real, store);
    const uint64_t last = real + size - 1;
    if (last / kLineBytes != real / kLineBytes) touch(htm, vcpu, last & ~UINT64_C(127), store);
  }
  pthread_mutex_unlock(&lock);
}
