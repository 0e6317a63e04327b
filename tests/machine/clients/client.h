// SPDX-License-Identifier: GPL-2.0-or-later
// A client of the htm PMU that shares no code with htmtrace. It follows the public description of
// the drivers' perf interface, and accounts for every record.
#pragma once
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// attr.config: type, node, chip, core (kmod/ABI).
#define HTM_CONFIG(type, node, chip, core) \
  ((uint64_t)(type) | (uint64_t)(node) << 4 | (uint64_t)(chip) << 12 | (uint64_t)(core) << 20)

enum { kNest = 1, kCore = 2, kLlat = 3 };

// Kinds of announcement (kmod/ABI, PERF_RECORD_AUX_OUTPUT_HW_ID), 1 to kAnnouncements.
enum {
  kTraceBegin = 1,
  kTraceEnd,
  kMapBegin,
  kMapEnd,
  kErrorTold,
  kStarted,
  kGap,
  kAnnouncements = 15
};
// For kStarted and kGap: the reasons (bits), and the untraced time.
enum { kLate = 1, kThrottled = 2, kRings = 4, kRescheduled = 8, kRefused = 16 };
static inline unsigned told_why(uint64_t said) {
  return (unsigned)(said >> 48) & 0xff;
}
static inline uint64_t told_ns(uint64_t said) {
  return said & ((UINT64_C(1) << 48) - 1);
}

// A growing buffer.
struct bytes {
  uint8_t* data;
  size_t size, room;
};

// The result of read(2) with the read_format below.
struct reading {
  uint64_t value, enabled_ns, running_ns, id, lost;
};

struct client {
  int event;
  size_t data_bytes, aux_bytes, page_bytes;
  struct perf_event_mmap_page* page;
  uint8_t* data;
  uint8_t* aux;
  bool keep;  // store trace and map; otherwise only count them

  // The received data.
  struct bytes trace, map;          // map: entries only
  uint64_t trace_bytes, map_bytes;  // map: with headers, as MAP_END counts
  uint64_t blocks, repeats, lost, throttled, bad_records, dirty_padding;
  uint64_t aux_records, aux_record_bytes, aux_flags;
  uint64_t announced[kAnnouncements + 1];  // count of each kind
  uint64_t said[kAnnouncements + 1];       // value of the last announcement of each kind
  unsigned gaps_why;                       // reasons of all gaps
  uint64_t gaps_ns;                        // sum of all gaps
  uint64_t overruns;                       // more bytes in the AUX ring than it holds
  bool error_state;                        // read(2) returned 0 bytes
  struct reading last;
  uint64_t reads, pauses;

  // The latest block, to detect a repeated block.
  struct bytes block;
};

unsigned htm_type(void);  // sysfs: type

// True if the htm driver is present and is a part of the kernel, not a module. That driver's errno
// for a macro that is configured already is EBUSY, not EALREADY (kmod/upstream).
bool driver_is_built_in(void);

// The attr that every client of the public drivers uses.
struct perf_event_attr client_attr(uint64_t config);

// Calls perf_event_open(2). Returns the descriptor, or -errno.
int client_open(const struct perf_event_attr* attr, int cpu);

// Opens and maps the event. Ends the program on failure.
void client_begin(struct client* client, uint64_t config, int cpu, size_t data_bytes,
                  size_t aux_bytes);
void client_map_data(struct client* client, size_t data_bytes);
int client_map_aux(struct client* client, size_t aux_bytes, int protection);  // 0 or -errno
void client_enable(struct client* client);
void client_disable(struct client* client);

// Performs one read(2). Returns false in the error state.
bool client_read(struct client* client);
// Drains the rings. Returns true if part of the trace or map arrived.
bool client_consume(struct client* client);
// Like client_consume(), but drains at most `most` bytes of trace.
bool client_consume_part(struct client* client, uint64_t most);
// Returns the bytes of trace that are not drained yet.
uint64_t client_waiting(const struct client* client);
// The universal loop. Returns false if the driver returns "again" too often.
bool client_drain(struct client* client);

// True if the driver announced that it delivered everything, and the client received all of it. The
// trace may have begun late.
bool client_complete(const struct client* client);

void client_end(struct client* client);

// FNV-1a, like the hypervisor's "checksum".
uint64_t checksum(const uint8_t* bytes, size_t size);

// Executes about `thousands` thousand instructions on a processor. Returns at their end.
void work_on(int cpu, unsigned thousands);
// Like work_on(), but returns false if the processor is offline.
bool try_work_on(int cpu, unsigned thousands);

void die(const char* what) __attribute__((noreturn));
