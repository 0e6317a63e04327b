// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The memory map translates the machine's real addresses in the trace to the
 * partition's logical addresses. The driver writes each block to the data ring, as
 * the raw data of a sample.
 */
#include <linux/build_bug.h>
#include <linux/io.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <asm/hvcall.h>

#include "htm_compat.h"
#include "htm_block.h"
#include "htm_map.h"

/* The driver halves the requested length until a block fits the ring, down to this length. */
#define HTM_LENGTH_MIN		(HTM_BLOCK_HEADER + 62 * HTM_MEMORY_ENTRY)

/* perf aligns the 4-byte size and the raw data together to 8 bytes: zeros fill the gap. */
#define HTM_RAW_PADDING		sizeof(u32)

/* DUMP_SYSMEM_CONF is about the machine, not about one macro. */
static const struct htm_where htm_where_machine = { .type = HTM_TYPE_ALL };

static_assert(HTM_BLOCK_LENGTH_MAX + HTM_RAW_PADDING <= HTM_BLOCK_ALLOC);

/**
 * struct htm_raw - the raw data of a sample on its way to the ring
 * @bytes: the data
 * @copied: number of bytes copied to the ring
 */
struct htm_raw {
	const void *bytes;
	u32 copied;
};

/* Call this before each map. An event without raw data in its samples gets no map. */
void htm_map_reset(struct htm_map *map, const struct perf_event *event)
{
	*map = (struct htm_map){
		.block = map->block,
		.length = HTM_BLOCK_LENGTH_MAX,
		.over = !(event->attr.sample_type & PERF_SAMPLE_RAW),
	};
}

/* The core calls this for each piece, once the ring has room for the sample. */
static unsigned long htm_raw_copy(void *dst, const void *src, unsigned long offset,
				  unsigned long length)
{
	struct htm_raw *raw = (struct htm_raw *)src;

	memcpy(dst, raw->bytes + offset, length);
	raw->copied += length;
	return 0;
}

/*
 * Write the block as a sample. The core does not report success, but success copies
 * the block. The core counts a sample that found no room. A sample that is neither
 * copied nor counted went to a ring without data pages.
 *
 * Return: 0, -EAGAIN if the ring has no room now, -ENOSPC if it never has room.
 */
static int htm_map_write(struct htm_map *map, struct perf_event *event, u32 size)
{
	struct htm_raw source = { .bytes = map->block };
	struct perf_raw_record raw = {
		.frag = { .copy = htm_raw_copy, .data = &source, .size = size },
	};
#ifndef HTM_IN_TREE
	perf_overflow_handler_t write = READ_ONCE(event->overflow_handler);
#endif
	s64 lost = htm_announce_lost(event);
	struct perf_sample_data data;

	perf_sample_data_init(&data, 0, event->hw.last_period);
	htm_sample_save_raw(&data, &raw);
#ifdef HTM_IN_TREE
	/*
	 * The block is data, not an overflow. perf_event_overflow() would count it as
	 * an overflow, and throttle the group.
	 */
	perf_event_output(event, &data, &map->regs);
#else
	/* A module cannot call perf_event_output(). This handler does the same. */
	write(event, &data, &map->regs);
#endif
	if (source.copied == size)
		return 0;
	return htm_announce_lost(event) == lost ? -ENOSPC : -EAGAIN;
}

/* Request the next block. */
static long htm_map_fetch(struct htm_map *map)
{
	struct htm_request req = {
		.where = htm_where_machine,
		.op = HTM_OP_DUMP_SYSMEM_CONF,
		.arg = { virt_to_phys(map->block), map->length, map->iterator },
	};

	memset(map->block, 0, HTM_BLOCK_ALLOC);
	return htm_hcall_atomic(&req);
}

/**
 * htm_map_drain() - move the next block of the memory map to the data ring
 * @map: progress of the memory map
 * @macro: writes a refusal to the log
 * @announcer: announces a refusal
 *
 * Return: bytes of the block, 0 after the last block, -EAGAIN if the block could not
 * be moved yet.
 */
long htm_map_drain(struct htm_map *map, struct htm_macro *macro, struct htm_announcer *announcer)
{
	struct htm_block block;
	long rc;

	if (map->end)
		return 0;
	if (htm_now() < map->retry_at)
		return -EAGAIN;

	rc = htm_map_fetch(map);
	if (htm_is_busy(rc)) {
		map->retry_at = htm_now() + htm_busy_ns(rc);
		return -EAGAIN;
	}
	if (rc != H_SUCCESS && rc != H_PARTIAL) {
		if (rc == H_NOT_AVAILABLE)
			return 0;
		htm_announce_error(announcer, HTM_OP_DUMP_SYSMEM_CONF, htm_errno(rc), rc);
		htm_macro_log(macro, HTM_OP_DUMP_SYSMEM_CONF, rc);
		return 0;
	}

	block = htm_block_parse(map->block, map->length, HTM_MEMORY_ENTRY, map->iterator);
	if (!block.size)
		return 0;
	memset(map->block + block.size, 0, HTM_RAW_PADDING);

	switch (htm_map_write(map, announcer->event, block.size + HTM_RAW_PADDING)) {
	case -EAGAIN:
		map->length = max(map->length / 2, HTM_LENGTH_MIN);
		return -EAGAIN;
	case -ENOSPC:
		return 0;
	}
	map->bytes += block.size;
	map->end = block.last;
	map->iterator = block.next;
	return block.size;
}
