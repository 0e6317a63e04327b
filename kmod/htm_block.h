/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hypervisor returns a list in blocks (PAPR, H_HTM: STATUS, DUMP_SYSMEM_CONF,
 * DUMP_SYSPROC_CONF). A block has a header and entries. The header holds the
 * iterator for the request of the next block.
 */
#ifndef HTM_BLOCK_H
#define HTM_BLOCK_H

#include <linux/sizes.h>
#include <linux/types.h>

#define HTM_BLOCK_ALLOC		SZ_64K
#define HTM_BLOCK_HEADER	32

/* Sizes of entries in bytes (PAPR, H_HTM). STATUS has two kinds of entry. */
#define HTM_MEMORY_ENTRY	32
#define HTM_PROCESSOR_ENTRY	16
#define HTM_CORE_STATUS_ENTRY	8
#define HTM_OTHER_STATUS_ENTRY	6

/*
 * Maximum length of a requested block: 2015 entries of the memory map. A sample with
 * such a block leaves 1 KiB of the perf record (64 KiB) for the other fields.
 */
#define HTM_BLOCK_LENGTH_MAX	(HTM_BLOCK_HEADER + 2015 * HTM_MEMORY_ENTRY)

/**
 * struct htm_block - the header of a block
 * @size: bytes, header included; 0 if the block has no entry
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
