// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "tests/faults/simulated_driver.h"

#include <dlfcn.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
  kEvents = 16,
  kFirstRead = 1 << 13,    // bytes of trace that a read delivers at most
  kHtmType = 77,           // also in the file `type`
  kFixedSampleWords = 5,   // of the sample fields ahead of the raw data
  kBlockHeaderBytes = 32,  // of a block of the memory map: PAPR, H_HTM
  kMapEntryBytes = 32,
};

// kmod/ABI: the kind of an announcement is in the upper byte.
enum announcement { kTraceBegin = 1, kTraceEnd = 2, kMapBegin = 3, kMapEnd = 4, kStarted = 6 };

struct event {
  int fd;  // 0: the entry is free
  uint64_t config;
  bool traces;  // not the witness, which only counts time
  bool enabled;
  struct perf_event_mmap_page* page;
  char* data;
  char* aux;
  size_t data_bytes, aux_bytes;
  size_t trace_done, map_done;
  bool ended;
  uint64_t clock;
};

static struct event events[kEvents];
static const char *folder, *registry;
static char *trace, *map;
static size_t trace_bytes, map_bytes;

// The functions of this library's own name would count the calls.
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static char* content(const char* name, size_t* size) {
  char path[4096];
  snprintf(path, sizeof(path), "%s/%s", folder, name);
  const int fd = REAL(open)(path, O_RDONLY | O_CLOEXEC);
  const off_t end = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
  char* bytes = REAL(mmap)(NULL, (size_t)end + 1, PROT_READ, MAP_PRIVATE, fd, 0);
  if (fd >= 0) REAL(close)(fd);
  *size = (size_t)end;
  return bytes;
}

void simulated_driver_begin(void) {
  folder = getenv("FAULTS_PMU");
  registry = getenv("FAULTS_REGISTRY");
  if (!folder) return;
  trace = content("trace", &trace_bytes);
  map = content("map", &map_bytes);
}

const char* simulated_path(const char* path) {
  static const char kDevices[] = "/sys/bus/event_source/devices";
  static const char kRun[] = "/run/htmtrace", kTemporary[] = "/tmp/htmtrace-";
  static __thread char other[4096] __attribute__((tls_model("initial-exec")));
  if (!folder) return path;
  if (strncmp(path, kDevices, sizeof(kDevices) - 1) == 0) {
    snprintf(other, sizeof(other), "%s%s", folder, path + sizeof(kDevices) - 1);
    return other;
  }
  if (registry && strncmp(path, kRun, sizeof(kRun) - 1) == 0) {
    snprintf(other, sizeof(other), "%s%s", registry, path + sizeof(kRun) - 1);
    return other;
  }
  if (registry && strncmp(path, kTemporary, sizeof(kTemporary) - 1) == 0) return registry;
  return path;
}

static struct event* event_of(int fd) {
  for (int i = 0; folder && fd > 0 && i < kEvents; i++) {
    if (events[i].fd == fd) return &events[i];
  }
  return NULL;
}

bool is_simulated(int fd) {
  return event_of(fd) != NULL;
}

static int refuse(int reason) {
  errno = reason;
  return -1;
}

int simulated_open(const void* bytes) {
  const struct perf_event_attr* attr = bytes;
  if (!folder) return refuse(ENOSYS);
  const bool traces = attr->type == kHtmType;
  if (!traces && attr->type != PERF_TYPE_SOFTWARE) return refuse(ENOENT);
  // As the driver answers to htmtrace's probe of the first driver.
  if (traces && attr->freq) return refuse(EINVAL);
  struct event* free_event = NULL;
  for (int i = 0; i < kEvents; i++) {
    if (events[i].fd == 0) {
      free_event = &events[i];
    } else if (traces && events[i].traces && events[i].config == attr->config) {
      return refuse(EBUSY);
    }
  }
  if (!free_event) return refuse(EMFILE);
  const int fd = memfd_create("event", MFD_CLOEXEC);
  if (fd < 0) return -1;
  *free_event = (struct event){.fd = fd, .config = attr->config, .traces = traces};
  return fd;
}

void simulated_close(int fd) {
  struct event* event = event_of(fd);
  if (event) event->fd = 0;
}

void* simulated_map(int fd, size_t size, off_t offset) {
  struct event* event = event_of(fd);
  if (REAL(ftruncate)(fd, offset + (off_t)size) != 0) return MAP_FAILED;
  const int access = PROT_READ | PROT_WRITE;
  char* theirs = REAL(mmap)(NULL, size, access, MAP_SHARED, fd, offset);
  char* ours = REAL(mmap)(NULL, size, access, MAP_SHARED, fd, offset);
  if (theirs == MAP_FAILED || ours == MAP_FAILED) return MAP_FAILED;
  if (offset != 0) {
    event->aux = ours;
    event->aux_bytes = size;
    return theirs;
  }
  const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
  event->page = (struct perf_event_mmap_page*)ours;
  event->data = ours + page_bytes;
  event->data_bytes = size - page_bytes;
  return theirs;
}

static void put(char* ring, size_t ring_bytes, uint64_t at, const void* bytes, size_t size) {
  for (size_t i = 0; i < size; i++) ring[(at + i) % ring_bytes] = ((const char*)bytes)[i];
}

static size_t data_room(const struct event* event) {
  return event->data_bytes - (event->page->data_head - event->page->data_tail);
}

static void put_record(struct event* event, uint32_t type, const void* body, size_t size) {
  const struct perf_event_header header = {.type = type, .size = (uint16_t)(sizeof(header) + size)};
  const uint64_t at = event->page->data_head;
  put(event->data, event->data_bytes, at, &header, sizeof(header));
  put(event->data, event->data_bytes, at + sizeof(header), body, size);
  __atomic_store_n(&event->page->data_head, at + header.size, __ATOMIC_RELEASE);
}

static void announce(struct event* event, enum announcement kind, uint64_t value) {
  const uint64_t id = (uint64_t)kind << 56 | value;
  put_record(event, PERF_RECORD_AUX_OUTPUT_HW_ID, &id, sizeof(id));
}

int simulated_ioctl(int fd, unsigned long request) {
  struct event* event = event_of(fd);
  if (request == PERF_EVENT_IOC_DISABLE) event->enabled = false;
  if (request != PERF_EVENT_IOC_ENABLE || !event->traces) return 0;
  event->enabled = true;
  event->trace_done = event->map_done = 0;
  event->ended = false;
  announce(event, kTraceBegin, 2 * trace_bytes);
  announce(event, kStarted, 0);
  return 0;
}

static uint64_t deliver_trace(struct event* event) {
  size_t size = event->aux_bytes - 1 - (event->page->aux_head - event->page->aux_tail);
  if (size > kFirstRead) size = kFirstRead;
  if (size > trace_bytes - event->trace_done) size = trace_bytes - event->trace_done;
  if (size == 0) return 1;  // again, when the ring has room
  const uint64_t at = event->page->aux_head;
  put(event->aux, event->aux_bytes, at, trace + event->trace_done, size);
  const uint64_t body[] = {at, size, 0};
  put_record(event, PERF_RECORD_AUX, body, sizeof(body));
  __atomic_store_n(&event->page->aux_head, at + size, __ATOMIC_RELEASE);
  event->trace_done += size;
  if (event->trace_done == trace_bytes) {
    announce(event, kTraceEnd, trace_bytes);
    announce(event, kMapBegin, map_bytes);
  }
  return 2;
}

static uint64_t deliver_block(struct event* event) {
  const char* block = map + event->map_done;
  uint64_t entries;
  memcpy(&entries, block + 2 * sizeof(entries), sizeof(entries));
  const size_t size = kBlockHeaderBytes + kMapEntryBytes * be64toh(entries);
  const size_t fixed = kFixedSampleWords * sizeof(uint64_t) + sizeof(uint32_t);
  const size_t padded = (fixed + size + 7) / 8 * 8;
  if (data_room(event) <= padded + sizeof(struct perf_event_header)) return 1;
  char body[1 << 16] = {0};
  const uint32_t raw = (uint32_t)(padded - fixed);
  memcpy(body + fixed - sizeof(raw), &raw, sizeof(raw));
  memcpy(body + fixed, block, size);
  put_record(event, PERF_RECORD_SAMPLE, body, padded);
  event->map_done += size;
  return 2;
}

static uint64_t deliver(struct event* event) {
  if (!event->page || event->ended) return 0;
  if (event->trace_done < trace_bytes) return deliver_trace(event);
  if (event->map_done < map_bytes) return deliver_block(event);
  announce(event, kMapEnd, map_bytes);
  event->ended = true;
  return 2;
}

ssize_t simulated_read(int fd, void* to, size_t size) {
  struct event* event = event_of(fd);
  // read_format TOTAL_TIME_ENABLED|TOTAL_TIME_RUNNING|ID|LOST
  uint64_t value[5] = {0};
  if (size < sizeof(value)) return refuse(ENOSPC);
  event->clock++;
  value[0] = event->traces ? deliver(event) : 0;
  value[1] = value[2] = event->clock;
  memcpy(to, value, sizeof(value));
  return sizeof(value);
}
