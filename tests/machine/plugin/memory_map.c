// SPDX-License-Identifier: GPL-2.0-or-later
#include "memory_map.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "big_endian.h"
#include "config.h"
#include "guest_memory.h"
#include "report.h"

// A trace has 40 bits for the page number of an instruction, and thus 52-bit addresses. Memory is
// at the bases of four controllers, one at the top. No block is ever at DEVICE_BASE.
static const uint64_t controller_base[] = {
    UINT64_C(0x0000400000000000),
    UINT64_C(0x0003000000000000),
    UINT64_C(0x0008200000000000),
    UINT64_C(0x000ff00000000000),
};
enum { kControllers = sizeof(controller_base) / sizeof(controller_base[0]) };
#define DEVICE_BASE (UINT64_C(0x000c) << 48)
#define DEVICE_MASK ((UINT64_C(1) << 48) - 1)

// Number of address bits beyond the 48 bits of a bus record.
static unsigned surplus_bits(void) {
  return config.nest_commands ? 4 : 0;
}

#define NO_LOGICAL UINT64_MAX
#define TOP_BIT (UINT64_C(1) << 63)  // of the physical field; consumers mask it

struct block {
  uint64_t machine;
  uint64_t logical;
  uint32_t partition;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint64_t ram_bytes;
static uint64_t* own_blocks;  // machine address of each block of the guest's RAM
static struct block* blocks;  // all blocks, in the order of the answer
static size_t block_count;

// Returns a number that has no common factor with `count`. Steps of this size visit each of
// 0..count-1 once, in another order.
static size_t odd_step(size_t count) {
  size_t step = count * 5 / 8 | 1;
  for (;; step++) {
    size_t a = step, b = count;
    while (b != 0) {
      const size_t rest = a % b;
      a = b;
      b = rest;
    }
    if (a == 1) return step % count;
  }
}

// Returns the owner of the machine's k-th block in the order preceding the shuffle. The guest's
// blocks are first. Blocks of two partitions with the guest's logical addresses follow, then unused
// memory.
static struct block owner(size_t k, size_t own) {
  const uint64_t block_bytes = UINT64_C(1) << config.block_log2;
  const size_t neighbor = own / 4 + 2;
  if (k < own) return (struct block){.logical = k * block_bytes, .partition = config.partition};
  k -= own;
  if (k < 2 * neighbor) {
    return (struct block){.logical = k / 2 * block_bytes,
                          .partition = config.partition + 1 + (uint32_t)(k % 2) * 6};
  }
  // Two of the unused blocks belong to the guest, but have no logical address.
  k -= 2 * neighbor;
  return (struct block){.logical = NO_LOGICAL, .partition = k < 2 ? config.partition : 0xffff};
}

static void build(void) {
  const uint64_t block_bytes = UINT64_C(1) << config.block_log2;
  ram_bytes = guest_ram_bytes();
  const size_t own = (size_t)((ram_bytes + block_bytes - 1) / block_bytes);
  block_count = own + 2 * (own / 4 + 2) + 4;
  own_blocks = calloc(own, sizeof(*own_blocks));
  blocks = calloc(block_count, sizeof(*blocks));
  if (own_blocks == NULL || blocks == NULL) die("no memory for a map of %zu blocks", block_count);
  const size_t place_step = odd_step(block_count);
  const size_t list_step = odd_step(block_count + 1);
  for (size_t k = 0; k < block_count; k++) {
    struct block block = owner(k, own);
    const size_t place = (k * place_step + 3) % block_count;
    block.machine = (controller_base[place % kControllers] >> surplus_bits()) +
                    place / kControllers * block_bytes;
    if (k < own) own_blocks[k] = block.machine;
    // A second shuffle of block_count + 1 positions, which omits the position of 0.
    size_t position = (k + 1) * list_step % (block_count + 1);
    blocks[position - 1] = block;
  }
}

uint64_t machine_address(uint64_t logical) {
  pthread_once(&once, build);
  if (logical >= ram_bytes) {
    return (DEVICE_BASE | (logical << surplus_bits() & DEVICE_MASK)) >> surplus_bits();
  }
  const uint64_t offset = logical & ((UINT64_C(1) << config.block_log2) - 1);
  return own_blocks[logical >> config.block_log2] | offset;
}

size_t memory_map_entries(void) {
  pthread_once(&once, build);
  return block_count;
}

void memory_map_entry(size_t index, uint8_t entry[kSysmemEntryBytes]) {
  const struct block* block = &blocks[index];
  const bool marked = index % 3 == 1;
  memset(entry, 0, kSysmemEntryBytes);
  store_be64(entry, block->machine | (marked ? TOP_BIT : 0));
  store_be64(entry + 8, block->logical);
  store_be32(entry + 16, block->partition);
  entry[20] = 1;                     // tier
  entry[21] = (uint8_t)(index % 2);  // type
  store_be64(entry + 24, UINT64_C(1) << config.block_log2);
}
