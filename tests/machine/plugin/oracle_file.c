// SPDX-License-Identifier: GPL-2.0-or-later
#include "oracle_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

enum { kBufferBytes = 1 << 20 };

static void fail(const struct oracle_file* oracle) {
  die("cannot write the oracle %s: %s", oracle->path, strerror(errno));
}

struct oracle_file* oracle_file_open(const char* directory, const char* name, const char* magic) {
  struct oracle_file* oracle = calloc(1, sizeof(*oracle));
  if (oracle == NULL) die("no memory for an oracle");
  snprintf(oracle->path, sizeof(oracle->path), "%s/%s", directory, name);
  oracle->file = fopen(oracle->path, "w");
  if (oracle->file == NULL) fail(oracle);
  setvbuf(oracle->file, NULL, _IOFBF, kBufferBytes);
  oracle_file_write(oracle, magic, 8);
  return oracle;
}

void oracle_file_write(struct oracle_file* oracle, const void* bytes, size_t length) {
  if (fwrite_unlocked(bytes, 1, length, oracle->file) != length) fail(oracle);
}

void oracle_file_note(struct oracle_file* oracle, char kind, uint64_t value) {
  uint8_t item[9];
  uint8_t* at = item;
  oracle_put(&at, (uint64_t)kind, 1);
  oracle_put(&at, value, 8);
  oracle_file_write(oracle, item, sizeof(item));
}

void oracle_file_flush(struct oracle_file* oracle) {
  if (fflush(oracle->file) != 0) fail(oracle);
}
