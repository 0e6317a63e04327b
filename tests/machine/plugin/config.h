// SPDX-License-Identifier: GPL-2.0-or-later
// The machine's description: a text file, one "key value..." per line, '#' starts a comment. The
// keys are in README.md.
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { kMaxVcpus = 64, kBufferTypes = 4, kHonest = 256 };

struct core_location {
  bool present;
  uint16_t node, chip, core;
};

enum iterator_end { kEndOnes, kEndZero, kEndStatus };

// Byte offsets at which the guest's kernel keeps the running task; 0: not known.
struct task_offsets {
  unsigned current;    // the task's address in the processor's area (PACA)
  unsigned pid, tgid;  // in the task
};

struct config {
  struct core_location cores[kMaxVcpus];
  unsigned buffer_log2[kBufferTypes];  // by type; 0: no memory is reserved
  uint32_t partition;
  unsigned block_log2;      // size of a memory block in the map
  unsigned sysmem_entries;  // maximum in one answer
  enum iterator_end iterator_end;
  bool wrap_order_memory;  // after a wrap, dumps in memory order, not oldest first
  unsigned stamps_every;   // average number of instructions between decorations; 0: none
  bool nest_commands;  // record commands, and limit machine addresses to the 48 bits of a record
  bool oracle;
  bool journal;          // write the actions of the macros with their times
  bool truth;            // write the content of the macros and of the memory map
  unsigned lie_entries;  // number of entries that a memory map block claims; 0: the true number
  unsigned lie_log2;     // buffer size that STATUS claims; kHonest: the true size
  unsigned dump_ns;      // duration of DUMP_DATA for each 4 KiB
  struct task_offsets task;
  bool kasan_shadow;  // the guest's kernel has KASAN: check its shadow memory
};

extern struct config config;

// Reads `path`, or keeps the defaults for `vcpus` if `path` is NULL. Ends the program with the
// invalid line.
void config_load(const char* path, unsigned vcpus);

// Changes one key while the guest runs. Returns false for an invalid line.
bool config_set(const char* line);
