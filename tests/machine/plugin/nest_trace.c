// SPDX-License-Identifier: GPL-2.0-or-later
#include "nest_trace.h"

#include "config.h"
#include "tests/encoder/nest.h"
#include "tests/encoder/power10.h"

enum { kRecordBytes = 16, kLineBytes = 128, kLineRecords = kLineBytes / kRecordBytes };
enum { kReservedRecords = 2, kMostDelta = 15, kTickets = 128, kLongestElapsed = 0x0fffffff };

// ------------------------------------------------------------------------------- positions

static uint64_t capacity(const struct htm* htm) {
  return htm->size_bytes / kRecordBytes / kEngines;
}

static void store(struct htm* htm, unsigned engine, const uint64_t words[2]) {
  struct nest_engine* state = &htm->engines[engine];
  const uint64_t record = state->records % capacity(htm);
  const uint64_t line = record / kLineRecords * kEngines + engine;
  uint8_t* at = htm->buffer + line * kLineBytes + record % kLineRecords * kRecordBytes;
  power10_store(at, words[0]);
  power10_store(at + 8, words[1]);
  state->records++;
  const uint64_t lines = (state->records + kLineRecords - 1) / kLineRecords;
  const uint64_t written = lines * kEngines * kLineBytes;
  if (written > htm->written_bytes) htm->written_bytes = written;
}

static void put_stamp(struct htm* htm, unsigned engine, uint64_t tick, uint64_t stamp) {
  uint64_t words[2];
  power10_companion(words, tick, 0, stamp);
  store(htm, engine, words);
  htm->engines[engine].tick = tick;
}

// For a buffer that does not wrap.
static uint64_t places_left(const struct htm* htm, unsigned engine) {
  return capacity(htm) - htm->engines[engine].records;
}

static bool room(struct htm* htm, unsigned engine, unsigned records, uint64_t tick) {
  struct nest_engine* state = &htm->engines[engine];
  if (state->full) return false;
  if (!htm->nowrap || places_left(htm, engine) >= records + kReservedRecords) return true;
  state->full = true;
  if (places_left(htm, engine) > 0)
    put_stamp(htm, engine, tick, power10_time(kPower10TimeTraceFull, 0, 0));
  return false;
}

// Ticks since the engine's last record, limited to the range of a stamp.
static uint32_t elapsed(const struct nest_engine* engine, uint64_t tick) {
  const uint64_t ticks = tick - engine->tick;
  return ticks < kLongestElapsed ? (uint32_t)ticks : kLongestElapsed;
}

// ------------------------------------------------------------------------------- records

void nest_trace_start(struct htm* htm, uint64_t tick) {
  for (unsigned engine = 0; engine < kEngines; engine++) {
    htm->engines[engine].pending_count = 0;
    if (room(htm, engine, 1, tick)) put_stamp(htm, engine, tick, power10_record(htm->starts));
  }
}

// The response to the oldest command without a recorded response, or NULL.
static const struct nest_response* oldest(const struct nest_engine* engine) {
  return engine->pending_count != 0 ? &engine->pending[0] : NULL;
}

static void forget_oldest(struct nest_engine* engine) {
  for (unsigned i = 1; i < engine->pending_count; i++) engine->pending[i - 1] = engine->pending[i];
  if (engine->pending_count != 0) engine->pending_count--;
}

static void put_responses(struct htm* htm, unsigned engine) {
  struct nest_engine* state = &htm->engines[engine];
  const struct nest_response* slots[kPendingResponses] = {NULL};
  for (unsigned i = 0; i < state->pending_count; i++) slots[i] = &state->pending[i];
  uint64_t words[2];
  power9_nest_responses(words, slots, 0);
  store(htm, engine, words);
  state->pending_count = 0;
}

// The commands by ttype and secondary encoding, from the tables of hw-trace's parser for POWER9
// (its pull request 1).
static void name(struct nest_command* command, enum bus_operation operation) {
  static const struct {
    unsigned ttype, tsize;
  } codes[] = {
      [kRead] = {0x00, 0x40},    [kReadToModify] = {0x08, 0x00}, [kClaim] = {0x0c, 0x00},
      [kCastOut] = {0x14, 0x00}, [kDeviceRead] = {0x34, 0x02},   [kDeviceWrite] = {0x37, 0x02}};
  command->ttype = codes[operation].ttype;
  command->tsize = codes[operation].tsize;
}

// Returns the unit number of a core: bits 7-9 are the quad, and bit 5 is its half. Bit 6 set and
// bit 4 clear identify a core.
static unsigned unit_of(unsigned core) {
  return (core >> 2 & 7) << 7 | 0x40 | (core >> 1 & 1) << 5;
}

bool nest_trace_command(struct htm* htm, const struct bus_command* command) {
  enum { kGroupScope = 3, kMostRecords = 3 };
  const unsigned port = command->machine >> 7 & 3, engine = port & 1;
  struct nest_engine* state = &htm->engines[engine];
  if (!room(htm, engine, kMostRecords, command->tick)) return false;
  if (command->tick - state->tick > kMostDelta) {
    const uint64_t stamp = power10_time(kPower10TimeElapsed, 0, elapsed(state, command->tick));
    put_stamp(htm, engine, command->tick, stamp);
  }
  struct nest_command record = {.address = command->machine,
                                .group = htm->node,
                                .chip = htm->chip,
                                .unit = unit_of(command->core),
                                .transaction = command->transaction,
                                .scope = kGroupScope,
                                .ticket = state->ticket++ % kTickets,
                                .delta = (unsigned)(command->tick - state->tick)};
  name(&record, command->operation);
  // Every other command carries the response to an earlier command.
  const bool carries = state->ticket % 2 == 0;
  uint64_t words[2];
  power9_nest_command(words, &record, carries ? oldest(state) : NULL);
  store(htm, engine, words);
  state->tick = command->tick;
  if (carries) forget_oldest(state);
  state->pending[state->pending_count++] = (struct nest_response){.code = command->response,
                                                                  .group = record.group,
                                                                  .chip = record.chip,
                                                                  .ticket = record.ticket,
                                                                  .snoop_port = port >> 1,
                                                                  .scope = record.scope};
  if (state->pending_count == kPendingResponses) put_responses(htm, engine);
  return true;
}

void nest_trace_stop(struct htm* htm, uint64_t tick) {
  for (unsigned engine = 0; engine < kEngines; engine++) {
    struct nest_engine* state = &htm->engines[engine];
    if (state->pending_count != 0 && room(htm, engine, 1, tick)) put_responses(htm, engine);
    if (!htm->nowrap || places_left(htm, engine) > 0) {
      put_stamp(htm, engine, tick, power10_complete(elapsed(state, tick)));
    }
  }
}
