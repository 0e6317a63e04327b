// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/build_bug.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <asm/byteorder.h>

#include "htm_block.h"

/**
 * struct htm_block_header - start of a block
 * @unknown1: not documented
 * @next: iterator of the next block
 * @entries: entries in this block
 * @unknown2: not documented
 */
struct htm_block_header {
	__be64 unknown1;
	__be64 next;
	__be64 entries;
	__be64 unknown2;
};

static_assert(sizeof(struct htm_block_header) == HTM_BLOCK_HEADER);
static_assert(HTM_BLOCK_LENGTH_MAX <= HTM_BLOCK_ALLOC);

/**
 * htm_block_parse() - read the header of a block
 * @bytes: the block
 * @length: bytes that the request allowed; limits the header's number of entries
 * @entry_size: bytes of an entry
 * @iterator: iterator of the request
 *
 * Return: the block's size and successor. A block without entries has size 0.
 */
struct htm_block htm_block_parse(const void *bytes, u32 length, u32 entry_size, u64 iterator)
{
	const struct htm_block_header *header = bytes;
	u64 next = be64_to_cpu(header->next);
	u64 entries = min_t(u64, be64_to_cpu(header->entries),
			    (length - HTM_BLOCK_HEADER) / entry_size);

	return (struct htm_block){
		.size = entries ? HTM_BLOCK_HEADER + entries * entry_size : 0,
		.next = next,
		/* Platforms end a list in different ways. */
		.last = !entries || !next || next == U64_MAX || next == iterator,
	};
}
