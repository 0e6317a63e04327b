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
  uint64_t records;  // since CONFIGURE; runs past the capacity when the buffer wraps
  uint64_t tick;     // of the last record
  bool full;         // no-wrap: nothing more fits
  unsigned ticket;   // of the next command
  unsigned pending_count;
  struct nest_response pending[kPendingResponses];  // of the last commands, not yet recorded
};

struct htm {
  enum htm_type type;
  uint16_t node, chip, core;
  int vcpu;  // of a core's macro, else -1

  pthread_mutex_t lock;  // all below
  enum htm_state state;
  bool nowrap;
  uint8_t* buffer;
  uint64_t size_bytes;
  uint64_t written_bytes;  // since CONFIGURE; runs past size_bytes when the buffer wraps
  bool full;               // no-wrap: nothing more fits
  uint8_t starts;
  unsigned setup_log2;      // wish of SETUP, for the next power-on
  uint64_t stamp_time_ns;   // host clock of the last stamp
  uint64_t session;         // number of the last START since power-on
  uint64_t configurations;  // since power-on
  uint64_t random;          // state of the decorations' draw
  uint64_t captured_instructions;
  uint64_t lost_instructions;  // not in the trace because the buffer was full
  uint64_t lost_before_start;

  // A nest macro's, with `nest commands`. While it traces they and the buffer belong to the bus.
  struct nest_engine engines[kEngines];
  uint64_t captured_commands;
  uint64_t lost_commands;
};

// Make the macros of the configured cores and of their chips. `truth_directory`, if any, gets the
// file trace.TYPE.nN.pP.cC at each DECONFIGURE: what dumps could have returned.
void htm_create(const char* truth_directory);

// NULL: the machine has no such core or chip. The core of a nest macro is not looked at.
struct htm* htm_find(enum htm_type type, uint16_t node, uint16_t chip, uint16_t core);
struct htm* htm_of_vcpu(unsigned vcpu);  // the core trace macro, or NULL

// The i-th macro of a type, NULL past the last.
struct htm* htm_at(enum htm_type type, size_t index);

// The operations that change the state; each returns the status of the hypervisor call.
int64_t htm_setup(struct htm* htm, unsigned log2);
int64_t htm_configure(struct htm* htm, bool nowrap);
int64_t htm_start(struct htm* htm);
int64_t htm_stop(struct htm* htm);
int64_t htm_deconfigure(struct htm* htm);
// The caller has checked that the range is the guest's.
int64_t htm_dump(struct htm* htm, uint64_t address, uint64_t length, uint64_t offset);

// Macros that are configured at present.
unsigned htm_configured(void);

// Release all, as switching the machine off would.
void htm_reset(void);

// FNV-1a of all bytes that dumps can return.
uint64_t htm_checksum(struct htm* htm);

// Append words to the trace, or nothing when not all fit. With the lock held. Two words are kept
// back in a no-wrap buffer, for the "trace full" and the "complete" stamp.
bool htm_append(struct htm* htm, const uint64_t* words, size_t count);

// Nanoseconds since the last stamp, as the 28 bits of a stamp hold them.
uint32_t htm_elapsed(struct htm* htm);

void htm_report(FILE* file);
