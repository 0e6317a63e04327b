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

struct config {
  struct core_location cores[kMaxVcpus];
  unsigned buffer_log2[kBufferTypes];  // by type; 0: no memory was set aside
  uint32_t partition;
  unsigned block_log2;      // size of a memory block in the map
  unsigned sysmem_entries;  // at most so many in one answer
  enum iterator_end iterator_end;
  bool wrap_order_memory;  // after a wrap, dump as the memory lies, not oldest first
  unsigned stamps_every;   // instructions between decorations, about; 0: none
  bool nest_commands;      // record them, and keep machine addresses to the 48 bits of a record
  bool oracle;
  bool journal;          // write what the macros do, and when
  bool truth;            // write what the macros and the memory map hold
  unsigned lie_entries;  // number of entries that a memory map block claims to have; 0: the truth
  unsigned lie_log2;     // buffer size that STATUS claims; kHonest: the truth
  unsigned dump_ns;      // how long DUMP_DATA takes for each 4 KiB
  bool kasan_shadow;     // the guest's kernel is built with KASAN: look at its shadow memory
};

extern struct config config;

// Read `path`, or keep the defaults for `vcpus` when it is NULL. Dies with the line that is wrong.
void config_load(const char* path, unsigned vcpus);

// Change one key while the guest runs. False: not understood.
bool config_set(const char* line);
