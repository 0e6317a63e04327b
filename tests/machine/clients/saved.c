// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/machine/clients/saved.h"

#include <endian.h>
#include <stdint.h>
#include <sys/stat.h>

FILE* create_in(const char* directory, const char* name) {
  char path[4096];
  mkdir(directory, 0777);
  snprintf(path, sizeof(path), "%s/%s", directory, name);
  FILE* file = fopen(path, "w");
  if (file == NULL) die(path);
  return file;
}

static void put(FILE* file, const void* bytes, size_t size) {
  if (fwrite(bytes, 1, size, file) != size || fclose(file) != 0) die("files");
}

void save_trace(const struct client* client, const char* directory, const char* target) {
  char name[64];
  snprintf(name, sizeof(name), "htm.bin.%s", target);
  put(create_in(directory, name), client->trace.data, client->trace.size);
  // The memory map as one block: number of entries at 0x10, and no next block.
  const uint64_t header[4] = {0, UINT64_MAX, htobe64(client->map.size / 32), 0};
  snprintf(name, sizeof(name), "translation.%s", target);
  FILE* file = create_in(directory, name);
  if (fwrite(header, 1, sizeof(header), file) != sizeof(header)) die("files");
  put(file, client->map.data, client->map.size);
}
