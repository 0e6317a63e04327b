// SPDX-License-Identifier: GPL-2.0-or-later
#include "blocks.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "big_endian.h"
#include "config.h"
#include "guest_memory.h"
#include "htm.h"
#include "memory_map.h"

enum { kCoreStatusBytes = 8, kOtherStatusBytes = 6, kSysprocEntryBytes = 16 };

void blocks_capabilities(uint8_t answer[0x80]) {
  memset(answer, 0, 0x80);
  store_be64(answer, 1);           // version of this layout
  store_be64(answer + 0x08, 12);   // smallest buffer, power of two
  store_be64(answer + 0x10, 48);   // largest
  store_be64(answer + 0x18, 0xe);  // types: bit number = type
}

size_t blocks_entry_bytes(enum htm_operation operation, enum htm_type type) {
  if (operation == kDumpSysmemConf) return kSysmemEntryBytes;
  if (operation == kDumpSysprocConf) return kSysprocEntryBytes;
  return type == kTypeCore ? kCoreStatusBytes : kOtherStatusBytes;
}

static size_t entry_count(enum htm_operation operation, enum htm_type type) {
  if (operation == kDumpSysmemConf) return memory_map_entries();
  const enum htm_type counted = operation == kDumpSysprocConf ? kTypeCore : type;
  size_t count = 0;
  while (htm_at(counted, count) != NULL) count++;
  return count;
}

static void status_entry(struct htm* htm, uint8_t* entry) {
  pthread_mutex_lock(&htm->lock);
  entry[0] = (uint8_t)htm->state;
  pthread_mutex_unlock(&htm->lock);
  entry[1] = (uint8_t)config.buffer_log2[htm->type];
  store_be16(entry + 2, htm->node);
  store_be16(entry + 4, htm->chip);
  if (htm->type == kTypeCore) store_be16(entry + 6, htm->core);
}

static void sysproc_entry(const struct htm* htm, uint8_t* entry) {
  store_be16(entry, htm->node);
  store_be16(entry + 2, htm->chip);
  store_be16(entry + 4, htm->core);
  store_be16(entry + 6, (uint16_t)(htm->node << 4 | htm->chip));  // number of the physical chip
  store_be32(entry + 8, config.partition);
  store_be16(entry + 12, (uint16_t)htm->vcpu);
  entry[14] = (uint8_t)config.buffer_log2[kTypeNest];
  entry[15] = (uint8_t)config.buffer_log2[kTypeCore];
}

static void write_entry(enum htm_operation operation, enum htm_type type, size_t index,
                        uint8_t* entry) {
  if (operation == kDumpSysmemConf) {
    memory_map_entry(index, entry);
  } else if (operation == kDumpSysprocConf) {
    sysproc_entry(htm_at(kTypeCore, index), entry);
  } else {
    status_entry(htm_at(type, index), entry);
  }
}

static uint64_t next_iterator(size_t next, size_t total) {
  if (next < total || config.iterator_end == kEndStatus) return next;
  return config.iterator_end == kEndZero ? 0 : UINT64_MAX;
}

int64_t blocks_answer(enum htm_operation operation, enum htm_type type, uint64_t address,
                      uint64_t length, uint64_t iterator) {
  const size_t entry_bytes = blocks_entry_bytes(operation, type);
  const size_t total = entry_count(operation, type);
  if (iterator >= total) return kNotAvailable;
  size_t count = (size_t)((length - kBlockHeaderBytes) / entry_bytes);
  if (operation == kDumpSysmemConf && count > config.sysmem_entries) count = config.sysmem_entries;
  if (count > total - iterator) count = total - (size_t)iterator;
  const size_t bytes = kBlockHeaderBytes + count * entry_bytes;
  uint8_t* block = calloc(1, bytes);
  if (block == NULL) return kResource;
  const size_t next = (size_t)iterator + count;
  if (operation == kStatus) {
    block[1] = (uint8_t)(config.lie_log2 == kHonest ? config.buffer_log2[type] : config.lie_log2);
  }
  const bool lie = operation == kDumpSysmemConf && config.lie_entries != 0;
  store_be64(block + 0x08, next_iterator(next, total));
  store_be64(block + 0x10, lie ? config.lie_entries : count);
  for (size_t i = 0; i < count; i++) {
    write_entry(operation, type, (size_t)iterator + i, block + kBlockHeaderBytes + i * entry_bytes);
  }
  guest_write(address, block, bytes);
  free(block);
  return next < total ? kPartial : kSuccess;
}
