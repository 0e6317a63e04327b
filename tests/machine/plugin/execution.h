// SPDX-License-Identifier: GPL-2.0-or-later
// The execution of a vCPU, as the capture passes it to the trace and to the oracle.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { kMaxAccesses = 128 };

// One instruction of the guest's code as translated. Never freed, because the emulator keeps
// pointers to it in its translated blocks.
struct instruction {
  uint64_t ea;
  uint64_t real;  // guest real address
  // In memory order, each read as little-endian; a prefixed instruction has two.
  uint32_t words[2];
  uint32_t word_count;
};

// The part of a memory access that lies in one 4 KiB page.
struct access {
  uint64_t ea;
  uint64_t real;  // guest real address
  uint32_t size;
  bool store;
  bool device;  // not RAM
};

// A completed instruction.
struct execution {
  uint64_t ea, real, msr;
  uint32_t words[2];  // prefix first, if there are two
  uint32_t word_count;
  size_t access_count;
  const struct access* accesses;
};
