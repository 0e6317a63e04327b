// SPDX-License-Identifier: GPL-2.0-or-later
// A file of an oracle: eight characters that identify its kind, then items, little-endian.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct oracle_file {
  FILE* file;
  char path[4096];
};

// Each function ends the program if the file cannot be written.
struct oracle_file* oracle_file_open(const char* directory, const char* name, const char* magic);
void oracle_file_write(struct oracle_file* oracle, const void* bytes, size_t length);
// Writes an item with a kind and a number of 8 bytes.
void oracle_file_note(struct oracle_file* oracle, char kind, uint64_t value);
void oracle_file_flush(struct oracle_file* oracle);

// Stores the low `bytes` bytes of `value` at *at, and advances *at.
static inline void oracle_put(uint8_t** at, uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; i++) *(*at)++ = (uint8_t)(value >> 8 * i);
}
