/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Delivery of the memory map from the hypervisor to samples in the data ring. */
#ifndef HTM_MAP_H
#define HTM_MAP_H

#include <linux/ptrace.h>

#include "htm_announce.h"

/**
 * struct htm_map - progress of moving a memory map to the data ring
 * @block: room for one block
 * @iterator: names the next block; advances only after the block was written
 * @bytes: bytes moved
 * @retry_at: earliest htm_now() for the next call to a busy hypervisor
 * @length: buffer length to offer; shrinks until a block fits the ring
 * @begun: the begin was announced
 * @end: the hypervisor has no further block
 * @over: the end was announced; no further block will be moved
 * @regs: all zero; a sample of a block has no registers
 */
struct htm_map {
	void *block;
	u64 iterator;
	u64 bytes;
	u64 retry_at;
	u32 length;
	bool begun;
	bool end;
	bool over;
	struct pt_regs regs;
};

void htm_map_reset(struct htm_map *map, const struct perf_event *event);
long htm_map_drain(struct htm_map *map, struct htm_macro *macro, struct htm_announcer *announcer);

#endif /* HTM_MAP_H */
