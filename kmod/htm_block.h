/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A list that the hypervisor gives in blocks (PAPR, H_HTM: STATUS,
 * DUMP_SYSMEM_CONF, DUMP_SYSPROC_CONF): each has a header and entries, and the
 * header says by which iterator to ask for the next one.
 */
#ifndef HTM_BLOCK_H
#define HTM_BLOCK_H

#include <linux/sizes.h>
#include <linux/types.h>

#define HTM_BLOCK_ALLOC		SZ_64K
#define HTM_BLOCK_HEADER	32

/* Bytes of an entry (PAPR, H_HTM). STATUS has two kinds. */
#define HTM_MEMORY_ENTRY	32
#define HTM_PROCESSOR_ENTRY	16
#define HTM_CORE_STATUS_ENTRY	8
#define HTM_OTHER_STATUS_ENTRY	6

/*
 * Longest block to ask for: 2015 entries of memory map, which as a sample leave
 * 1 KiB of a perf record for its other fields.
 */
#define HTM_BLOCK_LENGTH_MAX	(HTM_BLOCK_HEADER + 2015 * HTM_MEMORY_ENTRY)

/**
 * struct htm_block - what a block says of itself
 * @size: bytes, header included; 0 if it has no entry
 * @next: iterator of the next block
 * @last: there is no next block
 */
struct htm_block {
	u32 size;
	u64 next;
	bool last;
};

struct htm_block htm_block_parse(const void *bytes, u32 length, u32 entry_size, u64 iterator);

#endif /* HTM_BLOCK_H */
