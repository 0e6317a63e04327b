// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "tests/machine/clients/client.h"

#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

// The memory map's blocks have a header of 32 bytes, with the next iterator at 8 and the number of
// entries at 16, both big-endian. Each entry has 32 bytes (PAPR, DUMP_SYSMEM_CONF).
enum { kBlockHeader = 32, kBlockEntry = 32, kBlockCount = 16 };
// Identifier, IP, TID, time, CPU: eight bytes each, ahead of a sample's raw data.
enum { kFixedFields = 5 * 8 };
// Pauses of 1 ms each, for several times the longest hint of the hypervisor.
enum { kMostPauses = 5000, kIdleReads = 2 };

void die(const char* what) {
  perror(what);
  exit(1);
}

bool driver_is_built_in(void) {
  return access("/sys/bus/event_source/devices/htm", F_OK) == 0 &&
         access("/sys/module/htm", F_OK) != 0;
}

unsigned htm_type(void) {
  unsigned type;
  FILE* file = fopen("/sys/bus/event_source/devices/htm/type", "r");
  if (file == NULL || fscanf(file, "%u", &type) != 1) die("type of the htm PMU");
  fclose(file);
  return type;
}

struct perf_event_attr client_attr(uint64_t config) {
  return (struct perf_event_attr){
      .type = htm_type(),
      .size = sizeof(struct perf_event_attr),
      .config = config,
      .sample_period = 1,
      .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                     PERF_SAMPLE_CPU | PERF_SAMPLE_RAW,
      .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
                     PERF_FORMAT_ID | PERF_FORMAT_LOST,
      .disabled = 1,
      .pinned = 1,
      .sample_id_all = 1,
  };
}

int client_open(const struct perf_event_attr* attr, int cpu) {
  const long event = syscall(SYS_perf_event_open, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
  return event < 0 ? -errno : (int)event;
}

void client_map_data(struct client* client, size_t data_bytes) {
  client->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
  client->data_bytes = data_bytes;
  client->page = mmap(NULL, client->page_bytes + data_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                      client->event, 0);
  if (client->page == MAP_FAILED) die("data ring");
  client->data = (uint8_t*)client->page + client->page_bytes;
}

int client_map_aux(struct client* client, size_t aux_bytes, int protection) {
  client->page->aux_offset = client->page_bytes + client->data_bytes;
  client->page->aux_size = aux_bytes;
  void* aux =
      mmap(NULL, aux_bytes, protection, MAP_SHARED, client->event, (off_t)client->page->aux_offset);
  if (aux == MAP_FAILED) return -errno;
  client->aux = aux;
  client->aux_bytes = aux_bytes;
  return 0;
}

void client_begin(struct client* client, uint64_t config, int cpu, size_t data_bytes,
                  size_t aux_bytes) {
  *client = (struct client){.keep = true};
  struct perf_event_attr attr = client_attr(config);
  attr.aux_watermark = (uint32_t)(aux_bytes / 2);
  client->event = client_open(&attr, cpu);
  if (client->event < 0) {
    errno = -client->event;
    die("perf_event_open");
  }
  client_map_data(client, data_bytes);
  if (client_map_aux(client, aux_bytes, PROT_READ | PROT_WRITE) != 0) die("AUX ring");
}

void client_enable(struct client* client) {
  if (ioctl(client->event, PERF_EVENT_IOC_ENABLE, 0) != 0) die("enable");
}

void client_disable(struct client* client) {
  if (ioctl(client->event, PERF_EVENT_IOC_DISABLE, 0) != 0) die("disable");
}

void client_end(struct client* client) {
  if (client->aux != NULL) munmap(client->aux, client->aux_bytes);
  if (client->page != NULL) munmap(client->page, client->page_bytes + client->data_bytes);
  close(client->event);
  free(client->trace.data);
  free(client->map.data);
  free(client->block.data);
}

static void append(struct bytes* to, const void* bytes, size_t count) {
  while (to->room - to->size < count) {
    to->room = to->room == 0 ? 1 << 16 : 2 * to->room;
    to->data = realloc(to->data, to->room);
    if (to->data == NULL) die("memory");
  }
  memcpy(to->data + to->size, bytes, count);
  to->size += count;
}

static uint64_t be64_at(const uint8_t* bytes) {
  uint64_t value;
  memcpy(&value, bytes, sizeof(value));
  return be64toh(value);
}

static uint64_t u64_at(const uint8_t* bytes) {
  uint64_t value;
  memcpy(&value, bytes, sizeof(value));
  return value;
}

// Reads a block of the memory map. Padding follows the block.
static void take_sample(struct client* client, const uint8_t* body, size_t size) {
  uint32_t raw_size = 0;
  if (size >= kFixedFields + sizeof(raw_size)) {
    memcpy(&raw_size, body + kFixedFields, sizeof(raw_size));
  }
  const uint8_t* block = body + kFixedFields + sizeof(raw_size);
  const uint64_t count = raw_size >= kBlockHeader ? be64_at(block + kBlockCount) : 0;
  const uint64_t bytes = kBlockHeader + count * kBlockEntry;
  if (raw_size < kBlockHeader || kFixedFields + sizeof(raw_size) + raw_size > size ||
      count > UINT16_MAX || bytes > raw_size) {
    client->bad_records++;
    return;
  }
  for (uint64_t i = bytes; i < raw_size; i++) client->dirty_padding += block[i] != 0;
  if (client->block.size == bytes && memcmp(client->block.data, block, bytes) == 0) {
    client->repeats++;
    return;
  }
  client->block.size = 0;
  append(&client->block, block, bytes);
  client->blocks++;
  client->map_bytes += bytes;
  if (client->keep) append(&client->map, block + kBlockHeader, bytes - kBlockHeader);
}

static void take_record(struct client* client, const struct perf_event_header* header,
                        const uint8_t* body, size_t size) {
  switch (header->type) {
    case PERF_RECORD_SAMPLE:
      take_sample(client, body, size);
      break;
    case PERF_RECORD_AUX:
      client->aux_records++;
      client->aux_record_bytes += u64_at(body + 8);
      client->aux_flags |= u64_at(body + 16);
      break;
    case PERF_RECORD_AUX_OUTPUT_HW_ID: {
      const uint64_t hw_id = u64_at(body);
      const unsigned kind = hw_id >> 56 <= kAnnouncements ? (unsigned)(hw_id >> 56) : 0;
      client->announced[kind]++;
      client->said[kind] = hw_id & ((UINT64_C(1) << 56) - 1);
      if (kind == kGap) {
        client->gaps_why |= told_why(hw_id);
        client->gaps_ns += told_ns(hw_id);
      }
      break;
    }
    case PERF_RECORD_LOST:
      client->lost += u64_at(body + 8);
      break;
    case PERF_RECORD_THROTTLE:
      client->throttled++;
      break;
    default:
      break;
  }
}

static void copy_out(const struct client* client, uint64_t from, void* to, size_t count) {
  for (size_t done = 0; done < count;) {
    const size_t at = (from + done) % client->data_bytes;
    const size_t piece =
        client->data_bytes - at < count - done ? client->data_bytes - at : count - done;
    memcpy((uint8_t*)to + done, client->data + at, piece);
    done += piece;
  }
}

static void take_records(struct client* client) {
  static _Thread_local uint8_t record[1 << 16];
  const uint64_t head = __atomic_load_n(&client->page->data_head, __ATOMIC_ACQUIRE);
  uint64_t tail = client->page->data_tail;
  while (tail < head) {
    struct perf_event_header header;
    copy_out(client, tail, &header, sizeof(header));
    if (header.size < sizeof(header) || header.size > head - tail) {
      client->bad_records++;
      tail = head;
      break;
    }
    copy_out(client, tail, record, header.size);
    take_record(client, &header, record + sizeof(header), header.size - sizeof(header));
    tail += header.size;
  }
  __atomic_store_n(&client->page->data_tail, tail, __ATOMIC_RELEASE);
}

uint64_t client_waiting(const struct client* client) {
  if (client->aux == NULL) return 0;
  return __atomic_load_n(&client->page->aux_head, __ATOMIC_ACQUIRE) - client->page->aux_tail;
}

static void take_trace(struct client* client, uint64_t most) {
  const uint64_t waiting = client_waiting(client);
  if (waiting > client->aux_bytes) client->overruns++;
  uint64_t tail = client->page->aux_tail;
  const uint64_t end = tail + (waiting < most ? waiting : most);
  client->trace_bytes += end - tail;
  while (client->keep && tail < end) {
    const size_t at = tail % client->aux_bytes;
    size_t piece = client->aux_bytes - at;
    if (piece > end - tail) piece = end - tail;
    append(&client->trace, client->aux + at, piece);
    tail += piece;
  }
  __atomic_store_n(&client->page->aux_tail, end, __ATOMIC_RELEASE);
}

bool client_consume_part(struct client* client, uint64_t most) {
  const uint64_t trace_before = client->trace_bytes, blocks_before = client->blocks;
  take_records(client);
  if (client->aux != NULL) take_trace(client, most);
  return client->trace_bytes != trace_before || client->blocks != blocks_before;
}

bool client_consume(struct client* client) {
  return client_consume_part(client, UINT64_MAX);
}

bool client_read(struct client* client) {
  client->reads++;
  const ssize_t got = read(client->event, &client->last, sizeof(client->last));
  if (got == 0) client->error_state = true;
  if (got != 0 && got != sizeof(client->last)) die("read of the event");
  return got != 0;
}

bool client_drain(struct client* client) {
  unsigned idle = 0, pauses = 0;
  while (idle < kIdleReads) {
    if (!client_read(client)) return true;
    const bool progress = client_consume(client);
    if (progress) {
      idle = 0;
    } else if (client->last.value == 0) {
      idle++;
    } else {
      if (++pauses > kMostPauses) return false;
      client->pauses++;
      usleep(1000);
    }
  }
  return true;
}

bool client_complete(const struct client* client) {
  const bool late = client->announced[kGap] == 0 && told_why(client->said[kStarted]) == kLate;
  return client->announced[kErrorTold] == 0 && client->announced[kTraceEnd] == 1 &&
         client->said[kTraceEnd] == client->trace_bytes && client->announced[kMapEnd] == 1 &&
         client->said[kMapEnd] == client->map_bytes &&
         client->aux_flags == (late ? PERF_AUX_FLAG_PARTIAL : 0) && client->overruns == 0 &&
         client->bad_records == 0 && client->throttled == 0;
}

uint64_t checksum(const uint8_t* bytes, size_t size) {
  uint64_t sum = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < size; i++) sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
  return sum;
}

// Five instructions in each round, including a branch and memory accesses.
static void* work(void* rounds) {
  volatile unsigned count = 0;
  while (count < (uintptr_t)rounds) count = count + 1;
  return NULL;
}

// A thread, because the end of a process would be in the trace: it is slow on the debug kernel.
bool try_work_on(int cpu, unsigned thousands) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(cpu, &only);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setaffinity_np(&attributes, sizeof(only), &only);
  pthread_t thread;
  errno = pthread_create(&thread, &attributes, work, (void*)(uintptr_t)(200 * thousands));
  const bool done = errno == 0 && pthread_join(thread, NULL) == 0;
  pthread_attr_destroy(&attributes);
  return done;
}

void work_on(int cpu, unsigned thousands) {
  if (!try_work_on(cpu, thousands)) die("the work");
}
