// SPDX-License-Identifier: GPL-2.0-or-later
// The registered areas of each virtual processor, and the log entries in them.
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "big_endian.h"
#include "config.h"
#include "dtl.h"
#include "guest_memory.h"
#include "h_htm.h"
#include "report.h"

enum {
  // The VPA (kernel: arch/powerpc/include/asm/lppaca.h).
  kVpaSizeOffset = 4,
  kVpaStatusOffset = 9,
  kVpaSharedProcessor = 2,
  kVpaEnableMaskOffset = 184,
  kVpaDispatchCountOffset = 256,
  kVpaDispersionCountOffset = 260,
  kVpaLogIndexOffset = 536,
  kVpaLeastBytes = 640,
  kPageBytes = 4096,
  kCacheLineBytes = 128,
  // A log starts with its own length until the first entry overwrites it.
  kLogSizeOffset = 4,
  kEntryBytes = 48,
  // Functions of H_REGISTER_VPA, three bits of its flags (kernel: asm/hvcall.h).
  kFunctionShift = 45,
  kRegisterVpa = 1,
  kRegisterLog = 2,
  kRegisterSlbShadow = 3,
  kDeregisterVpa = 5,
  kDeregisterLog = 6,
  kDeregisterSlbShadow = 7,
};

struct areas {
  pthread_mutex_t lock;
  uint64_t vpa, log;  // 0: not registered
  uint32_t slots;
  uint64_t last_timebase;
  uint32_t processor;
  uint64_t dispatches, entries;
  FILE* oracle;
} __attribute__((aligned(64)));

static struct areas all[kMaxVcpus];

void dtl_log_create(const char* directory) {
  for (unsigned vcpu = 0; vcpu < kMaxVcpus; vcpu++) {
    pthread_mutex_init(&all[vcpu].lock, NULL);
    if (directory == NULL || !config.cores[vcpu].present) continue;
    char path[4096];
    snprintf(path, sizeof(path), "%s/dtl.oracle.%u", directory, vcpu);
    all[vcpu].oracle = fopen(path, "wb");
    if (all[vcpu].oracle == NULL) die("cannot create the oracle %s: %s", path, strerror(errno));
  }
}

static bool in_ram(uint64_t address, uint64_t length, const char* what) {
  const uint64_t end = guest_ram_bytes();
  if (address <= end && length <= end - address) return true;
  report_violation("%s: address 0x%lx length 0x%lx, but RAM ends at 0x%lx", what, address, length,
                   end);
  return false;
}

static void guest_write32(uint64_t address, uint32_t value) {
  uint8_t bytes[4];
  store_be32(bytes, value);
  guest_write(address, bytes, sizeof(bytes));
}

static int64_t register_vpa(struct areas* areas, uint64_t address) {
  if (address == 0 || address % kCacheLineBytes != 0) return kParameter;
  if (!in_ram(address, kVpaLeastBytes, "VPA")) return kParameter;
  const uint64_t size = guest_read(address + kVpaSizeOffset, 2);
  if (size < kVpaLeastBytes || address / kPageBytes != (address + size - 1) / kPageBytes) {
    return kParameter;
  }
  areas->vpa = address;
  const uint8_t status = (uint8_t)guest_read(address + kVpaStatusOffset, 1) | kVpaSharedProcessor;
  guest_write(address + kVpaStatusOffset, &status, 1);
  return kSuccess;
}

// Separates the logs in the oracle: an entry with a reason that no dispatch has.
static void mark_oracle(struct areas* areas, uint64_t address) {
  if (areas->oracle == NULL) return;
  uint8_t mark[kEntryBytes] = {0xff, 0xff};
  store_be64(mark + 24, address);
  fwrite(mark, sizeof(mark), 1, areas->oracle);
}

static int64_t register_log(struct areas* areas, uint64_t address) {
  if (areas->vpa == 0) return kResource;
  if (!in_ram(address, kEntryBytes, "dispatch log")) return kParameter;
  const uint64_t size = guest_read(address + kLogSizeOffset, 4);
  if (size < kEntryBytes || !in_ram(address, size, "dispatch log")) return kParameter;
  areas->log = address;
  areas->slots = (uint32_t)(size / kEntryBytes);
  mark_oracle(areas, address);
  return kSuccess;
}

static int64_t apply(struct areas* areas, unsigned function, uint64_t address) {
  switch (function) {
    case kRegisterVpa:
      return register_vpa(areas, address);
    case kRegisterLog:
      return register_log(areas, address);
    case kDeregisterVpa:
      if (areas->log != 0) return kResource;
      areas->vpa = 0;
      return kSuccess;
    case kDeregisterLog:
      areas->log = 0;
      return kSuccess;
    case kRegisterSlbShadow:  // nothing in this emulator reloads a segment lookaside buffer
    case kDeregisterSlbShadow:
      return areas->vpa == 0 ? kResource : kSuccess;
    default:
      return kParameter;
  }
}

int64_t dtl_register_vpa(unsigned vcpu, uint64_t flags, uint64_t processor, uint64_t address) {
  (void)vcpu;
  if (processor >= kMaxVcpus || !config.cores[processor].present) return kParameter;
  struct areas* areas = &all[processor];
  pthread_mutex_lock(&areas->lock);
  const int64_t status = apply(areas, (flags >> kFunctionShift) & 7, address);
  pthread_mutex_unlock(&areas->lock);
  return status;
}

static void count(uint64_t vpa, unsigned offset, uint32_t step) {
  guest_write32(vpa + offset, (uint32_t)guest_read(vpa + offset, 4) + step);
}

void dtl_stopped(unsigned vcpu) {
  struct areas* areas = &all[vcpu];
  pthread_mutex_lock(&areas->lock);
  if (areas->vpa != 0 && guest_read(areas->vpa + kVpaDispatchCountOffset, 4) % 2 == 0) {
    count(areas->vpa, kVpaDispatchCountOffset, 1);
  }
  pthread_mutex_unlock(&areas->lock);
}

static void encode(const struct dtl_dispatch* dispatch, uint8_t entry[kEntryBytes]) {
  entry[0] = dispatch->dispatch_reason;
  entry[1] = dispatch->preempt_reason;
  store_be16(entry + 2, dispatch->processor);
  store_be32(entry + 4, dispatch->enqueue_to_dispatch);
  store_be32(entry + 8, dispatch->ready_to_enqueue);
  store_be32(entry + 12, dispatch->waiting_to_ready);
  store_be64(entry + 16, dispatch->timebase);
  store_be64(entry + 24, dispatch->fault_address);
  store_be64(entry + 32, dispatch->srr0);
  store_be64(entry + 40, dispatch->srr1);
}

static void log_entry(struct areas* areas, const struct dtl_dispatch* dispatch) {
  uint8_t entry[kEntryBytes], next[8];
  encode(dispatch, entry);
  // The partition may reset the index to 0, so read it each time.
  const uint64_t index = guest_read(areas->vpa + kVpaLogIndexOffset, 8);
  guest_write(areas->log + index % areas->slots * kEntryBytes, entry, sizeof(entry));
  store_be64(next, index + 1);
  guest_write(areas->vpa + kVpaLogIndexOffset, next, sizeof(next));
  if (areas->oracle != NULL) fwrite(entry, sizeof(entry), 1, areas->oracle);
  areas->entries++;
}

void dtl_dispatched(unsigned vcpu, struct dtl_dispatch* dispatch) {
  struct areas* areas = &all[vcpu];
  pthread_mutex_lock(&areas->lock);
  if (areas->vpa != 0) {
    if (dispatch->timebase <= areas->last_timebase) dispatch->timebase = areas->last_timebase + 1;
    areas->last_timebase = dispatch->timebase;
    const bool was_stopped = guest_read(areas->vpa + kVpaDispatchCountOffset, 4) % 2 != 0;
    count(areas->vpa, kVpaDispatchCountOffset, was_stopped ? 1 : 2);
    if (areas->processor != dispatch->processor) {
      count(areas->vpa, kVpaDispersionCountOffset, 1);
      areas->processor = dispatch->processor;
    }
    areas->dispatches++;
    const uint64_t mask = guest_read(areas->vpa + kVpaEnableMaskOffset, 1);
    if (areas->log != 0 && (mask & dispatch->kind) != 0) log_entry(areas, dispatch);
  }
  pthread_mutex_unlock(&areas->lock);
}

void dtl_report(FILE* file) {
  for (unsigned vcpu = 0; vcpu < kMaxVcpus; vcpu++) {
    struct areas* areas = &all[vcpu];
    pthread_mutex_lock(&areas->lock);
    if (areas->dispatches != 0) {
      fprintf(file, "dtl_dispatches %u %lu\n", vcpu, areas->dispatches);
      fprintf(file, "dtl_entries %u %lu\n", vcpu, areas->entries);
    }
    if (areas->oracle != NULL && fclose(areas->oracle) != 0) die("cannot write a dispatch oracle");
    areas->oracle = NULL;
    pthread_mutex_unlock(&areas->lock);
  }
}
