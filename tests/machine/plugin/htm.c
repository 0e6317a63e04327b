// SPDX-License-Identifier: GPL-2.0-or-later
#include "htm.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "capture.h"
#include "config.h"
#include "fnv.h"
#include "guest_memory.h"
#include "journal.h"
#include "report.h"
#include "tests/encoder/power10.h"

enum { kMaxMacros = 3 * kMaxVcpus, kReservedWords = 2, kDumpUnit = 4096 };

// Each dump ends at a multiple of the largest page size of a guest, so that dumps of whole pages
// end equally for each page size.
#define DUMP_GRANULE (UINT64_C(64) << 10)

// For dumps of this size, translating all code again saves time.
#define LONG_DUMP (UINT64_C(16) << 20)

static struct htm macros[kMaxMacros];
static size_t macro_count;
static const char* truth;

static uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

// ------------------------------------------------------------------------------- the macros

static void create(enum htm_type type, const struct core_location* at, int vcpu) {
  struct htm* htm = &macros[macro_count++];
  *htm = (struct htm){
      .type = type, .node = at->node, .chip = at->chip, .core = at->core, .vcpu = vcpu};
  pthread_mutex_init(&htm->lock, NULL);
}

void htm_create(const char* truth_directory) {
  truth = truth_directory;
  for (unsigned vcpu = 0; vcpu < kMaxVcpus; vcpu++) {
    const struct core_location* at = &config.cores[vcpu];
    if (!at->present) continue;
    create(kTypeCore, at, (int)vcpu);
    create(kTypeLlat, at, -1);
    if (htm_find(kTypeNest, at->node, at->chip, 0) == NULL) create(kTypeNest, at, -1);
  }
}

struct htm* htm_find(enum htm_type type, uint16_t node, uint16_t chip, uint16_t core) {
  for (size_t i = 0; i < macro_count; i++) {
    struct htm* htm = &macros[i];
    if (htm->type == type && htm->node == node && htm->chip == chip &&
        (type == kTypeNest || htm->core == core)) {
      return htm;
    }
  }
  return NULL;
}

static const char* htm_name(const struct htm* htm, char* name, size_t length) {
  static const char* const types[] = {"", "nest", "core", "llat"};
  snprintf(name, length, "%s.n%u.p%u.c%u", types[htm->type], htm->node, htm->chip, htm->core);
  return name;
}

struct htm* htm_of_vcpu(unsigned vcpu) {
  for (size_t i = 0; i < macro_count; i++) {
    if (macros[i].vcpu == (int)vcpu) return &macros[i];
  }
  return NULL;
}

struct htm* htm_at(enum htm_type type, size_t index) {
  for (size_t i = 0; i < macro_count; i++) {
    if (macros[i].type == type && index-- == 0) return &macros[i];
  }
  return NULL;
}

// ------------------------------------------------------------------------------- the buffer

static void store(struct htm* htm, uint64_t word) {
  power10_store(htm->buffer + htm->written_bytes % htm->size_bytes, word);
  htm->written_bytes += 8;
}

bool htm_append(struct htm* htm, const uint64_t* words, size_t count) {
  if (htm->full) return false;
  if (htm->nowrap) {
    const uint64_t free_bytes = htm->size_bytes - htm->written_bytes;
    if ((count + kReservedWords) * 8 > free_bytes) {
      htm->full = true;
      store(htm, power10_time(kPower10TimeTraceFull, 0, 0));
      return false;
    }
  }
  for (size_t i = 0; i < count; i++) store(htm, words[i]);
  return true;
}

uint32_t htm_elapsed(struct htm* htm) {
  const uint64_t now = now_ns();
  const uint64_t elapsed = now - htm->stamp_time_ns;
  htm->stamp_time_ns = now;
  return (uint32_t)elapsed & 0x0fffffff;
}

static bool has_commands(const struct htm* htm) {
  return htm->type == kTypeNest && config.nest_commands;
}

// Returns whether its trace records the execution of vCPUs.
static bool is_traced(const struct htm* htm) {
  return htm->vcpu >= 0 || has_commands(htm);
}

// A stamp that begins or ends a run. LLAT macros have no public record format, so their trace
// consists of these stamps with their companion words. The same applies to a nest macro without
// `nest commands`.
static void append_boundary(struct htm* htm, uint64_t stamp) {
  uint64_t pair[kPower10CompanionWords];
  if (htm->type == kTypeCore) {
    htm_append(htm, &stamp, 1);
    return;
  }
  power10_companion(pair, now_ns(), 0, stamp);
  htm_append(htm, pair, kPower10CompanionWords);
}

// ------------------------------------------------------------------------------- content of dumps

// The number of bytes that a dump can return, and the offset of the first byte in memory.
static uint64_t dump_extent(const struct htm* htm, uint64_t* start) {
  *start = 0;
  if (htm->written_bytes > htm->size_bytes) {
    if (!config.wrap_order_memory) *start = htm->written_bytes % htm->size_bytes;
    return htm->size_bytes;
  }
  const uint64_t rounded = (htm->written_bytes + DUMP_GRANULE - 1) & ~(DUMP_GRANULE - 1);
  return rounded < htm->size_bytes ? rounded : htm->size_bytes;
}

// Passes all bytes that dumps can return to `take` in order, in one or two pieces.
static void each_piece(const struct htm* htm, void (*take)(void*, const uint8_t*, size_t),
                       void* data) {
  uint64_t start;
  const uint64_t extent = dump_extent(htm, &start);
  const uint64_t to_end = htm->size_bytes - start;
  take(data, htm->buffer + start, extent < to_end ? extent : to_end);
  if (extent > to_end) take(data, htm->buffer, extent - to_end);
}

static void add_to_checksum(void* checksum, const uint8_t* bytes, size_t count) {
  *(uint64_t*)checksum = fnv(*(uint64_t*)checksum, bytes, count);
}

uint64_t htm_checksum(struct htm* htm) {
  uint64_t sum = FNV_START;
  pthread_mutex_lock(&htm->lock);
  if (htm->state != kReserved) each_piece(htm, add_to_checksum, &sum);
  pthread_mutex_unlock(&htm->lock);
  return sum;
}

static void write_piece(void* file, const uint8_t* bytes, size_t count) {
  if (fwrite(bytes, 1, count, file) != count) die("cannot write the truth");
}

static void write_truth(const struct htm* htm) {
  char name[64], path[4096];
  snprintf(path, sizeof(path), "%s/trace.%s", truth, htm_name(htm, name, sizeof(name)));
  FILE* file = fopen(path, "w");
  if (file == NULL) die("cannot write the truth %s", path);
  each_piece(htm, write_piece, file);
  if (fclose(file) != 0) die("cannot write the truth %s", path);
}

// ------------------------------------------------------------------------------- the states

int64_t htm_setup(struct htm* htm, unsigned log2) {
  pthread_mutex_lock(&htm->lock);
  const bool idle = htm->state == kReserved;
  if (idle) htm->setup_log2 = log2;
  pthread_mutex_unlock(&htm->lock);
  return idle ? kSuccess : kState;
}

static int64_t configure(struct htm* htm, bool nowrap) {
  if (htm->state != kReserved) return kState;
  if (config.buffer_log2[htm->type] == 0) return kNotAvailable;
  htm->size_bytes = UINT64_C(1) << config.buffer_log2[htm->type];
  void* memory = mmap(NULL, htm->size_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return kResource;
  htm->buffer = memory;
  htm->nowrap = nowrap;
  htm->written_bytes = 0;
  htm->full = false;
  memset(htm->engines, 0, sizeof(htm->engines));
  htm->starts = 0;
  htm->state = kConfigured;
  htm->configurations++;
  if (is_traced(htm)) capture_arm();
  return kSuccess;
}

int64_t htm_configure(struct htm* htm, bool nowrap) {
  pthread_mutex_lock(&htm->lock);
  const int64_t status = configure(htm, nowrap);
  pthread_mutex_unlock(&htm->lock);
  return status;
}

static void journal_executed(const struct htm* htm) {
  char name[64];
  if (htm->type != kTypeCore) return;
  journal("executed %s %lu", htm_name(htm, name, sizeof(name)),
          capture_executed((unsigned)htm->vcpu));
}

void htm_journal_executed(void) {
  if (!config.journal) return;
  for (unsigned vcpu = 0; vcpu < kMaxVcpus; vcpu++) {
    const struct htm* htm = htm_of_vcpu(vcpu);
    if (htm != NULL) journal_executed(htm);
  }
}

static void begin(struct htm* htm) {
  if (!has_commands(htm)) append_boundary(htm, power10_record(htm->starts));
  if (is_traced(htm)) capture_start(htm);
  htm->starts++;
}

int64_t htm_start(struct htm* htm) {
  pthread_mutex_lock(&htm->lock);
  const bool ready = htm->state == kConfigured || htm->state == kStopped;
  if (ready) {
    htm->stamp_time_ns = now_ns();
    begin(htm);
    htm->state = kTracing;
    char name[64];
    journal_executed(htm);
    journal("start %s", htm_name(htm, name, sizeof(name)));
  }
  pthread_mutex_unlock(&htm->lock);
  return ready ? kSuccess : kState;
}

// Requires the lock and a tracing macro.
static void stop(struct htm* htm) {
  char name[64];
  htm->state = kStopped;
  if (is_traced(htm)) capture_stop(htm);
  journal_executed(htm);
  journal("stop %s %lu %lu", htm_name(htm, name, sizeof(name)), htm->captured_instructions,
          htm->lost_instructions);
  if (has_commands(htm)) return;
  // The last word of a full buffer is reserved for this stamp.
  if (htm->full && htm->written_bytes < htm->size_bytes) {
    store(htm, power10_complete(htm_elapsed(htm)));
  } else {
    append_boundary(htm, power10_complete(htm_elapsed(htm)));
  }
}

int64_t htm_stop(struct htm* htm) {
  pthread_mutex_lock(&htm->lock);
  const bool tracing = htm->state == kTracing;
  if (tracing) stop(htm);
  pthread_mutex_unlock(&htm->lock);
  return tracing ? kSuccess : kState;
}

int64_t htm_deconfigure(struct htm* htm) {
  pthread_mutex_lock(&htm->lock);
  const bool configured = htm->state != kReserved;
  if (htm->state == kTracing) stop(htm);
  if (configured) {
    if (truth != NULL) write_truth(htm);
    munmap(htm->buffer, htm->size_bytes);
    htm->buffer = NULL;
    htm->state = kReserved;
  }
  pthread_mutex_unlock(&htm->lock);
  return configured ? kSuccess : kState;
}

// ------------------------------------------------------------------------------- the dump

static int64_t dump(struct htm* htm, uint64_t address, uint64_t length, uint64_t offset) {
  if (htm->state != kStopped) return kState;
  uint64_t start;
  const uint64_t extent = dump_extent(htm, &start);
  if (offset >= extent) return kNotAvailable;
  const uint64_t remaining = extent - offset;
  const uint64_t copied = length < remaining ? length : remaining;
  const uint64_t end_ns = now_ns() + length / kDumpUnit * config.dump_ns;
  const uint64_t from = (start + offset) % htm->size_bytes;
  const uint64_t to_end = htm->size_bytes - from;
  const uint64_t first = copied < to_end ? copied : to_end;
  guest_write(address, htm->buffer + from, first);
  if (copied > first) guest_write(address + first, htm->buffer, copied - first);
  while (now_ns() < end_ns) continue;
  return copied < remaining ? kPartial : kSuccess;
}

int64_t htm_dump(struct htm* htm, uint64_t address, uint64_t length, uint64_t offset) {
  pthread_mutex_lock(&htm->lock);
  const int64_t status = dump(htm, address, length, offset);
  pthread_mutex_unlock(&htm->lock);
  if (is_traced(htm) && offset >= LONG_DUMP) capture_rest();
  return status;
}

// ------------------------------------------------------------------------------- the report

unsigned htm_configured(void) {
  unsigned configured = 0;
  for (size_t i = 0; i < macro_count; i++) {
    pthread_mutex_lock(&macros[i].lock);
    configured += macros[i].state != kReserved;
    pthread_mutex_unlock(&macros[i].lock);
  }
  return configured;
}

void htm_reset(void) {
  for (size_t i = 0; i < macro_count; i++) htm_deconfigure(&macros[i]);
}

void htm_report(FILE* file) {
  static const char* const states[] = {"reserved", "configured", "tracing", "stopped"};
  unsigned configured = 0;
  for (size_t i = 0; i < macro_count; i++) {
    struct htm* htm = &macros[i];
    pthread_mutex_lock(&htm->lock);
    char name[64];
    htm_name(htm, name, sizeof(name));
    if (htm->state != kReserved) {
      configured++;
      fprintf(file, "still_configured %s %s\n", name, states[htm->state]);
    }
    if (htm->setup_log2 != 0) fprintf(file, "setup %s %u\n", name, htm->setup_log2);
    if (htm->captured_instructions != 0 || htm->lost_instructions != 0) {
      fprintf(file, "captured_instructions %s %lu\n", name, htm->captured_instructions);
      fprintf(file, "lost_instructions %s %lu\n", name, htm->lost_instructions);
    }
    if (htm->captured_commands != 0 || htm->lost_commands != 0) {
      fprintf(file, "captured_commands %s %lu\n", name, htm->captured_commands);
      fprintf(file, "lost_commands %s %lu\n", name, htm->lost_commands);
    }
    pthread_mutex_unlock(&htm->lock);
  }
  fprintf(file, "configured_at_exit %u\n", configured);
}
