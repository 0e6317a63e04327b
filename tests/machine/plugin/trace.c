// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace.h"

#include "config.h"
#include "memory_map.h"
#include "tests/encoder/power10.h"

// A walk with its header and terminator, an instruction of at most seven words, and their
// decorations.
enum { kMaxWords = 128, kPageBytes = 4096 };

struct record {
  uint64_t words[kMaxWords];
  size_t count;
};

static void put(struct record* record, uint64_t word) {
  record->words[record->count++] = word;
}

// Deterministic, so that equal runs of a program get equal decorations.
static uint32_t draw(struct htm* htm, uint32_t below) {
  uint64_t* state = &htm->random;
  if (*state == 0) {
    *state = UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)htm->node << 32 ^ (uint64_t)htm->chip << 16 ^
             htm->core;
  }
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return (uint32_t)(*state >> 32) % below;
}

static bool decorate(struct htm* htm) {
  return config.stamps_every != 0 && draw(htm, config.stamps_every) == 0;
}

// ------------------------------------------------------------------------------- between records

// One to three stamps; these may also split a record.
static void put_stamps(struct htm* htm, struct record* record) {
  const uint32_t count = 1 + draw(htm, 3);
  for (uint32_t i = 0; i < count; i++) {
    switch (draw(htm, 8)) {
      case 0:
        put(record, power10_sync());
        break;
      case 1:
        put(record,
            power10_mark(draw(htm, 16), draw(htm, 8), draw(htm, 1024), draw(htm, 4096), false));
        break;
      case 2:
        put(record, power10_time(kPower10TimeElapsedOverflow, 0, 0));
        break;
      default:
        put(record, power10_time(kPower10TimeElapsed, 0, htm_elapsed(htm)));
    }
  }
}

// Fillers and stamps with a companion word are valid only between records.
static void put_separator(struct htm* htm, struct record* record) {
  uint64_t pair[kPower10CompanionWords];
  switch (draw(htm, 4)) {
    case 0:
      for (uint32_t i = 1 + draw(htm, 3); i > 0; i--) put(record, 0);
      break;
    case 1:
      power10_companion(pair, htm->stamp_time_ns, draw(htm, 8),
                        power10_time(kPower10TimeElapsed, 0, htm_elapsed(htm)));
      for (unsigned i = 0; i < kPower10CompanionWords; i++) put(record, pair[i]);
      break;
    default:
      put_stamps(htm, record);
  }
}

// ------------------------------------------------------------------------------- translation

enum { kTables = 0x123000, kProcessId = 77 };

static void put_host_walk(struct record* record, uint64_t guest_real) {
  static const unsigned levels[] = {kPower10LevelPgd, kPower10LevelPud, kPower10LevelPmd,
                                    kPower10LevelPte};
  for (unsigned i = 0; i < 4; i++) {
    const uint64_t index = guest_real >> (39 - 9 * i) & 0x1ff;
    put(record, power10_walk(kPower10WalkHost, levels[i],
                             machine_address(kTables + i * kPageBytes) + index * 8));
  }
}

// One step through a table of the guest: the entry's guest address, the machine's walk to this
// address, and the entry's machine address.
static void put_guest_step(struct record* record, unsigned level, uint64_t guest_real) {
  put(record, power10_walk(kPower10WalkGuest, level, guest_real));
  put_host_walk(record, guest_real);
  put(record,
      power10_walk(kPower10WalkGuest | kPower10WalkHost, level, machine_address(guest_real)));
}

// The walk of a 4 KiB page: the complete walk, or only its end, as after a hit in the walk caches.
static void put_xlate(struct htm* htm, struct record* record, bool data_side, uint64_t ea,
                      uint64_t real, bool exception) {
  put(record, power10_xlate(data_side, config.partition + 1, kProcessId));
  if (draw(htm, 4) == 0) {
    put(record, power10_walk(kPower10WalkHost, kPower10LevelTableEntry, kTables));
    put_guest_step(record, kPower10LevelTableEntry, kTables + 16 * kProcessId);
    put_guest_step(record, kPower10LevelPgd, kTables + (ea >> 39 & 0x1fff) * 8);
    put_guest_step(record, kPower10LevelPud, kTables + (ea >> 30 & 0x1ff) * 8);
    put_guest_step(record, kPower10LevelPmd, kTables + (ea >> 21 & 0x1ff) * 8);
  }
  put_guest_step(record, kPower10LevelPte, kTables + (ea >> 12 & 0x1ff) * 8);
  if (exception) {
    put(record, power10_walk(kPower10WalkException | kPower10WalkGuest, kPower10LevelPte,
                             kTables + (ea >> 12 & 0x1ff) * 8));
  } else {
    const uint64_t page = real & ~(uint64_t)(kPageBytes - 1);
    put(record, power10_walk(kPower10WalkFinal | kPower10WalkGuest, kPower10Page4K, page));
    put_host_walk(record, page);
    put(record, power10_walk(kPower10WalkFinal | kPower10WalkGuest | kPower10WalkHost,
                             kPower10Page4K, machine_address(page)));
  }
  put(record, power10_walk_end());
}

// ------------------------------------------------------------------------------- records

void trace_line(struct htm* htm, uint64_t ea, uint64_t real) {
  struct record record = {.count = 0};
  uint64_t line[kPower10IearaWords];
  power10_ieara(line, ea, machine_address(real));
  const bool decorated = decorate(htm);
  if (decorated && draw(htm, 2) == 0) put_separator(htm, &record);
  if (decorated && draw(htm, 4) == 0) put_xlate(htm, &record, false, ea, real, false);
  const size_t split = decorated ? draw(htm, kPower10IearaWords) : 0;
  for (size_t i = 0; i < kPower10IearaWords; i++) {
    if (i != 0 && i == split) put_stamps(htm, &record);
    put(&record, line[i]);
  }
  htm_append(htm, record.words, record.count);
}

// The address pairs of an instruction: the lowest accessed address, and the lowest accessed address
// in a second 4 KiB page, if any.
static size_t address_pairs(const struct execution* execution, const struct access* pairs[2]) {
  const struct access* lowest = NULL;
  const struct access* second = NULL;
  for (size_t i = 0; i < execution->access_count; i++) {
    const struct access* access = &execution->accesses[i];
    if (lowest == NULL || access->ea < lowest->ea) lowest = access;
  }
  for (size_t i = 0; i < execution->access_count; i++) {
    const struct access* access = &execution->accesses[i];
    const bool same_page = access->ea / kPageBytes == lowest->ea / kPageBytes;
    if (!same_page && (second == NULL || access->ea < second->ea)) second = access;
  }
  pairs[0] = lowest;
  pairs[1] = second;
  return lowest == NULL ? 0 : second == NULL ? 1 : 2;
}

// The MSR rarely differs from the preceding MSR.
static uint64_t msr_word(uint64_t msr) {
  static _Thread_local uint64_t last, word;
  if (word == 0 || msr != last) {
    last = msr;
    word = power10_msr(msr);
  }
  return word;
}

static size_t encode(const struct execution* execution, uint64_t* words) {
  const struct access* pairs[2];
  const size_t pair_count = address_pairs(execution, pairs);
  const bool prefixed = execution->word_count == 2;
  uint32_t opcode = execution->words[prefixed ? 1 : 0];
  const bool branch = !prefixed && power10_recode_branch(opcode, execution->ea, &opcode);
  size_t count = 0;
  words[count++] = power10_info(opcode, execution->ea, branch, prefixed, pair_count);
  words[count++] = msr_word(execution->msr);
  if (prefixed) words[count++] = power10_prefix(execution->words[0]);
  for (size_t i = 0; i < pair_count; i++) {
    words[count++] = pairs[i]->ea;
    words[count++] = power10_dra(machine_address(pairs[i]->real));
  }
  return count;
}

bool trace_instruction(struct htm* htm, const struct execution* execution) {
  enum { kMostWords = 7 };
  uint64_t words[kMostWords];
  const size_t count = encode(execution, words);
  if (!decorate(htm)) return htm_append(htm, words, count);
  struct record record = {.count = 0};
  if (draw(htm, 2) == 0) put_separator(htm, &record);
  if (execution->access_count != 0 && draw(htm, 4) == 0) {
    const struct access* access = &execution->accesses[0];
    put_xlate(htm, &record, true, access->ea, access->real, false);
  }
  const size_t split = draw(htm, (uint32_t)count);
  for (size_t i = 0; i < count; i++) {
    if (i != 0 && i == split) put_stamps(htm, &record);
    put(&record, words[i]);
  }
  return htm_append(htm, record.words, record.count);
}

void trace_interrupted(struct htm* htm, const struct execution* execution) {
  if (!decorate(htm) || execution->access_count == 0) return;
  struct record record = {.count = 0};
  const struct access* access = &execution->accesses[0];
  put_xlate(htm, &record, true, access->ea, access->real, true);
  htm_append(htm, record.words, record.count);
}
