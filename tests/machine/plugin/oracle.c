// SPDX-License-Identifier: GPL-2.0-or-later
#include "oracle.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

enum { kItemBytes = 28, kAccessBytes = 20, kBufferBytes = 1 << 20 };
enum { kStoreFlag = 1, kDeviceFlag = 2 };

struct oracle {
  FILE* file;
  char path[4096];
};

static void put(uint8_t** at, uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; i++) *(*at)++ = (uint8_t)(value >> 8 * i);
}

static void write_all(struct oracle* oracle, const void* bytes, size_t length) {
  if (fwrite_unlocked(bytes, 1, length, oracle->file) != length) {
    die("cannot write the oracle %s: %s", oracle->path, strerror(errno));
  }
}

struct oracle* oracle_open(const char* directory, unsigned node, unsigned chip, unsigned core) {
  if (directory == NULL) return NULL;
  struct oracle* oracle = calloc(1, sizeof(*oracle));
  if (oracle == NULL) die("no memory for an oracle");
  snprintf(oracle->path, sizeof(oracle->path), "%s/oracle.n%u.p%u.c%u", directory, node, chip,
           core);
  oracle->file = fopen(oracle->path, "w");
  if (oracle->file == NULL) die("cannot write the oracle %s: %s", oracle->path, strerror(errno));
  setvbuf(oracle->file, NULL, _IOFBF, kBufferBytes);
  write_all(oracle, "htmorac1", 8);
  return oracle;
}

void oracle_start(struct oracle* oracle) {
  write_all(oracle, "S", 1);
}

void oracle_instruction(struct oracle* oracle, const struct execution* execution) {
  uint8_t item[kItemBytes + kMaxAccesses * kAccessBytes];
  uint8_t* at = item;
  put(&at, 'I', 1);
  put(&at, execution->word_count, 1);
  put(&at, execution->access_count, 1);
  put(&at, 0, 1);
  put(&at, execution->ea, 8);
  put(&at, execution->real, 8);
  put(&at, execution->words[0], 4);
  put(&at, execution->word_count == 2 ? execution->words[1] : 0, 4);
  for (size_t i = 0; i < execution->access_count; i++) {
    const struct access* access = &execution->accesses[i];
    put(&at, access->ea, 8);
    put(&at, access->real, 8);
    put(&at, access->size, 2);
    put(&at, (access->store ? kStoreFlag : 0) | (access->device ? kDeviceFlag : 0), 2);
  }
  write_all(oracle, item, (size_t)(at - item));
}

void oracle_stop(struct oracle* oracle, uint64_t lost_instructions) {
  uint8_t item[9];
  uint8_t* at = item;
  put(&at, 'E', 1);
  put(&at, lost_instructions, 8);
  write_all(oracle, item, sizeof(item));
  if (fflush(oracle->file) != 0) {
    die("cannot write the oracle %s: %s", oracle->path, strerror(errno));
  }
}
