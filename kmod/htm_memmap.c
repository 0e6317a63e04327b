// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The memory map: how machine real addresses, which the trace has, belong to
 * the partition's logical ones. Each block goes to the data ring as the raw
 * data of a sample.
 *
 * A module cannot call perf_event_overflow(). The event's own overflow handler
 * is what that function ends in; accounting and throttling are left out.
 */
#include <linux/align.h>
#include <linux/io.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/sizes.h>
#include <asm/byteorder.h>
#include <asm/hvcall.h>

#include "htm_compat.h"
#include "htm_session.h"

/*
 * One block: header and entries of 32 bytes each, as in PAPR, H_HTM. A perf
 * record must stay below 64 KiB: 2015 entries leave 1 KiB for its other fields.
 */
#define HTM_ENTRY_SIZE		32
#define HTM_LENGTH_MAX		(2016 * HTM_ENTRY_SIZE)
#define HTM_LENGTH_MIN		(63 * HTM_ENTRY_SIZE)

/* perf aligns size word and raw data together: half a word of zeros follows. */
#define HTM_RAW_PADDING		sizeof(u32)

/* DUMP_SYSMEM_CONF is about the machine, not about one macro. */
static const struct htm_where htm_where_machine = { .type = HTM_TYPE_ALL };

/**
 * struct htm_map_header - start of a block; fields that nobody knows are left out
 * @unknown1: not documented
 * @next: iterator of the next block
 * @entries: entries in this block
 * @unknown2: not documented
 */
struct htm_map_header {
	__be64 unknown1;
	__be64 next;
	__be64 entries;
	__be64 unknown2;
};

static_assert(sizeof(struct htm_map_header) == HTM_ENTRY_SIZE);
static_assert(HTM_LENGTH_MAX + HTM_RAW_PADDING <= HTM_BLOCK_ALLOC);

/**
 * struct htm_raw - the raw data of a sample on its way to the ring
 * @bytes: where they are
 * @copied: how many the ring has taken
 */
struct htm_raw {
	const void *bytes;
	u32 copied;
};

void htm_map_reset(struct htm_session *session)
{
	session->map = (struct htm_map_cursor){
		.length = HTM_LENGTH_MAX,
		.over = !(session->event->attr.sample_type & PERF_SAMPLE_RAW),
	};
}

/* Called by the core for each piece, and only when the sample has its place. */
static unsigned long htm_raw_copy(void *dst, const void *src, unsigned long offset,
				  unsigned long length)
{
	struct htm_raw *raw = (struct htm_raw *)src;

	memcpy(dst, raw->bytes + offset, length);
	raw->copied += length;
	return 0;
}

/*
 * Write the block as a sample. The handler does not say whether it did, the copy
 * does. The core counts a sample that found no room; one that is neither copied
 * nor counted went to a ring without data pages, where none will ever fit.
 *
 * Return: 0, -EAGAIN or -ENOSPC.
 */
static int htm_map_write(struct htm_session *session, u32 size)
{
	struct perf_event *event = session->event;
	struct htm_raw source = { .bytes = session->block };
	struct perf_raw_record raw = {
		.frag = { .copy = htm_raw_copy, .data = &source, .size = size },
	};
	perf_overflow_handler_t write = READ_ONCE(event->overflow_handler);
	s64 lost = atomic64_read(&event->lost_samples);
	struct perf_sample_data data;

	perf_sample_data_init(&data, 0, event->hw.last_period);
	htm_sample_save_raw(&data, &raw);
	write(event, &data, &session->regs);
	if (source.copied == size)
		return 0;
	return atomic64_read(&event->lost_samples) == lost ? -ENOSPC : -EAGAIN;
}

/* Ask for the block at the cursor. */
static long htm_map_fetch(struct htm_session *session)
{
	struct htm_map_cursor *map = &session->map;
	struct htm_request req = {
		.where = htm_where_machine,
		.op = HTM_OP_DUMP_SYSMEM_CONF,
		.arg = { virt_to_phys(session->block), map->length, map->iterator },
	};

	memset(session->block, 0, HTM_BLOCK_ALLOC);
	return htm_hcall_atomic(&req);
}

/**
 * htm_map_drain() - move the next block of the memory map to the data ring
 * @session: the session
 *
 * Return: bytes of the block, 0 if there are no more, -EAGAIN if it could not
 * be moved.
 */
long htm_map_drain(struct htm_session *session)
{
	struct htm_map_cursor *map = &session->map;
	const struct htm_map_header *header = session->block;
	u64 entries, next;
	u32 size;
	long rc;

	if (map->end)
		return 0;
	if (!htm_dump_is_due(session))
		return -EAGAIN;

	rc = htm_map_fetch(session);
	if (htm_is_busy(rc)) {
		htm_dump_was_busy(session, rc);
		return -EAGAIN;
	}
	if (rc != H_SUCCESS && rc != H_PARTIAL) {
		if (rc != H_NOT_AVAILABLE)
			htm_session_refused(session, HTM_OP_DUMP_SYSMEM_CONF, rc);
		return 0;
	}

	/* The count comes from outside: never believe more than was asked for. */
	entries = min_t(u64, be64_to_cpu(header->entries), map->length / HTM_ENTRY_SIZE - 1);
	next = be64_to_cpu(header->next);
	if (!entries)
		return 0;
	size = (entries + 1) * HTM_ENTRY_SIZE;
	memset(session->block + size, 0, HTM_RAW_PADDING);

	switch (htm_map_write(session, size + HTM_RAW_PADDING)) {
	case -EAGAIN:
		map->length = max(map->length / 2, HTM_LENGTH_MIN);
		return -EAGAIN;
	case -ENOSPC:
		return 0;
	}
	map->bytes += size;
	/* All the ways in which platforms are known to end the list. */
	map->end = !next || next == U64_MAX || next == map->iterator;
	map->iterator = next;
	return size;
}
