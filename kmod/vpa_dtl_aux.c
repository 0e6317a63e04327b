// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/build_bug.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <asm/dtl.h>
#include <asm/time.h>

#include "vpa_dtl_aux.h"

/**
 * struct vpa_dtl_clock - the slot that precedes the first entry
 * @boot_timebase: the timebase when perf's clock was 0
 * @ticks_per_second: frequency of the timebase
 * @no_timebase: 0, where an entry has its timebase
 * @padding: 0
 *
 * The numbers have the machine's byte order. Entries are always big-endian.
 */
struct vpa_dtl_clock {
	u64 boot_timebase;
	u64 ticks_per_second;
	u64 no_timebase;
	u64 padding[3];
};

static_assert(sizeof(struct vpa_dtl_clock) == sizeof(struct dtl_entry));

static u64 vpa_dtl_boot_timebase;

/*
 * The kernel does not export the timebase at boot to modules. perf's clock is the
 * timebase since boot in nanoseconds, so one reading of both clocks gives the value.
 * Use the reading with the least time between two reads of the timebase.
 */
void vpa_dtl_clock_init(void)
{
	u64 least = U64_MAX;

	for (int i = 0; i < 16; i++) {
		u64 before = get_tb();
		u64 ns = local_clock();
		u64 took = get_tb() - before;
		u64 seconds, rest;

		if (took >= least)
			continue;
		least = took;
		seconds = div64_u64_rem(ns, NSEC_PER_SEC, &rest);
		vpa_dtl_boot_timebase = before + took / 2 - seconds * tb_ticks_per_sec -
					div64_u64(rest * tb_ticks_per_sec, NSEC_PER_SEC);
	}
}

void *vpa_dtl_aux_setup(struct perf_event *event, void **pages, int nr_pages, bool overwrite)
{
	/* Reject overwrite mode: a reader could not find the first byte of an entry. */
	struct vpa_dtl_aux *aux = overwrite ? NULL : kzalloc(sizeof(*aux), GFP_KERNEL);

	if (!aux)
		return NULL;
	aux->pages = pages;
	aux->size = (unsigned long)nr_pages << PAGE_SHIFT;
	__module_get(THIS_MODULE);
	return aux;
}

/* The module's exit waits until this function has returned. */
void vpa_dtl_aux_free(void *aux)
{
	kfree(aux);
	module_put(THIS_MODULE);
}

/**
 * vpa_dtl_aux_put() - write one slot
 * @aux: the area
 * @head: position, a running count of bytes
 * @slot: the slot
 */
void vpa_dtl_aux_put(const struct vpa_dtl_aux *aux, u64 head, const void *slot)
{
	size_t left = sizeof(struct dtl_entry);

	while (left) {
		unsigned long at = head & (aux->size - 1);
		size_t length = min_t(size_t, left, PAGE_SIZE - offset_in_page(at));

		memcpy(aux->pages[at >> PAGE_SHIFT] + offset_in_page(at), slot, length);
		head += length;
		slot += length;
		left -= length;
	}
}

void vpa_dtl_aux_put_clock(struct vpa_dtl_aux *aux, u64 head)
{
	const struct vpa_dtl_clock clock = {
		.boot_timebase = vpa_dtl_boot_timebase,
		.ticks_per_second = tb_ticks_per_sec,
	};

	vpa_dtl_aux_put(aux, head, &clock);
	aux->has_clock = true;
}
