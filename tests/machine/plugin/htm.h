// SPDX-License-Identifier: GPL-2.0-or-later
// One hardware trace macro per (type, node, chip, core): its state, its buffer, and its lock.
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "h_htm.h"
#include "tests/encoder/nest.h"

enum htm_state { kReserved, kConfigured, kTracing, kStopped };

enum { kEngines = 2, kPendingResponses = 4 };

// One of the two engines of a nest macro that records commands.
struct nest_engine {
  uint64_t records;  // since CONFIGURE; exceeds the capacity when the buffer wraps
  uint64_t tick;     // of the last record
  bool full;         // no-wrap: the buffer is full
  unsigned ticket;   // of the next command
  unsigned pending_count;
  struct nest_response
      pending[kPendingResponses];  // of the last commands that are not recorded yet
};

struct htm {
  enum htm_type type;
  uint16_t node, chip, core;
  int vcpu;  // vCPU of a core's macro, otherwise -1

  pthread_mutex_t lock;  // protects all following members
  enum htm_state state;
  bool nowrap;
  uint8_t* buffer;
  uint64_t size_bytes;
  uint64_t written_bytes;  // since CONFIGURE; exceeds size_bytes when the buffer wraps
  bool full;               // no-wrap: the buffer is full
  uint8_t starts;
  unsigned setup_log2;      // requested by SETUP, for the next power-on
  uint64_t stamp_time_ns;   // host clock of the last stamp
  uint64_t session;         // number of the last START since power-on
  uint64_t configurations;  // since power-on
  uint64_t random;          // random state of the decorations
  uint64_t captured_instructions;
  uint64_t lost_instructions;  // omitted from the trace because the buffer was full
  uint64_t lost_before_start;

  // Used by a nest macro with `nest commands`. While it traces, the bus owns the engines and the
  // buffer.
  struct nest_engine engines[kEngines];
  uint64_t captured_commands;
  uint64_t lost_commands;
};

// Creates the macros of the configured cores and of their chips. `truth_directory` may be NULL. It
// receives the file trace.TYPE.nN.pP.cC at each DECONFIGURE: all bytes that dumps could return.
void htm_create(const char* truth_directory);

// Returns NULL if the machine has no such core or chip. Ignores the core of a nest macro.
struct htm* htm_find(enum htm_type type, uint16_t node, uint16_t chip, uint16_t core);
struct htm* htm_of_vcpu(unsigned vcpu);  // the core trace macro, or NULL
void htm_journal_executed(void);         // of each core, to the journal

// Returns the i-th macro of a type, or NULL after the last.
struct htm* htm_at(enum htm_type type, size_t index);

// The operations that change the state. Each returns the status of the hypervisor call.
int64_t htm_setup(struct htm* htm, unsigned log2);
int64_t htm_configure(struct htm* htm, bool nowrap);
int64_t htm_start(struct htm* htm);
int64_t htm_stop(struct htm* htm);
int64_t htm_deconfigure(struct htm* htm);
// The caller has checked that the range is in the guest's memory.
int64_t htm_dump(struct htm* htm, uint64_t address, uint64_t length, uint64_t offset);

// The number of configured macros.
unsigned htm_configured(void);

// Releases all macros, as a power-off would.
void htm_reset(void);

// FNV-1a of all bytes that dumps can return.
uint64_t htm_checksum(struct htm* htm);

// Appends words to the trace, or nothing if not all words fit. Requires the lock. A no-wrap buffer
// reserves two words for the "trace full" and "complete" stamps.
bool htm_append(struct htm* htm, const uint64_t* words, size_t count);

// Nanoseconds since the last stamp, in the 28 bits of a stamp.
uint32_t htm_elapsed(struct htm* htm);

void htm_report(FILE* file);
