// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Delivery of the trace from the macro's memory to the AUX area. The hypervisor writes
 * to one range of real addresses per call, so each dump lies within one block of
 * physically contiguous pages.
 */
#include <linux/io.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#ifndef HTM_IN_TREE
#include <linux/module.h>
#endif
#include <linux/sched/clock.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/time64.h>
#include <asm/hvcall.h>

#include "htm_trace.h"

/*
 * Lengths and addresses of dumps are multiples of this size, the smallest page. Other
 * lengths and alignments are not known to work.
 */
#define HTM_GRANULE		SZ_4K

#define HTM_CHUNK_FIRST		SZ_64K
#define HTM_CHUNK_MAX		SZ_1M

/* A read keeps interrupts off for about this time, and should not exceed 1 ms. */
#define HTM_BUDGET_NS		(NSEC_PER_MSEC / 2)

/**
 * struct htm_aux - the AUX area as the hypervisor must see it
 *
 * The area belongs to a ring, which may outlive the event that set it up and
 * serve another event, so this struct refers to no event.
 *
 * @pages: kernel address of each page, owned by the core
 * @size: bytes in the area, a power of two
 * @block_end: for each page, the page after the end of its block
 */
struct htm_aux {
	void **pages;
	unsigned long size;
	u32 block_end[];
};

/* The number of pages from @first to the end of its physical block. */
static int htm_aux_block_pages(void **pages, int first, int nr_pages)
{
	struct page *page = virt_to_page(pages[first]);
	int order = PagePrivate(page) ? page_private(page) : 0;
	int n = 1;

	/* The order is the size of the allocation. The addresses must agree with it. */
	while (n < 1 << order && first + n < nr_pages &&
	       pages[first + n] == pages[first] + n * PAGE_SIZE)
		n++;
	return n;
}

void *htm_aux_setup(struct perf_event *event, void **pages, int nr_pages, bool overwrite)
{
	struct htm_aux *aux;

	/*
	 * Reject overwrite mode: each read delivers the next part of the trace once.
	 * A ring never offers its last byte, so a ring of one granule has no room.
	 */
	if (overwrite || (u64)nr_pages << PAGE_SHIFT < 2 * HTM_GRANULE)
		return NULL;

	aux = kvzalloc(struct_size(aux, block_end, nr_pages), GFP_KERNEL);
	if (!aux)
		return NULL;
	aux->pages = pages;
	aux->size = (unsigned long)nr_pages << PAGE_SHIFT;
	for (int first = 0, end; first < nr_pages; first = end) {
		end = first + htm_aux_block_pages(pages, first, nr_pages);
		for (int page = first; page < end; page++)
			aux->block_end[page] = end;
	}
#ifndef HTM_IN_TREE
	/* The area holds a reference, because the core always calls htm_aux_free() at the end. */
	__module_get(THIS_MODULE);
#endif
	return aux;
}

void htm_aux_free(void *aux)
{
	kvfree(aux);
#ifndef HTM_IN_TREE
	/* htm_exit() waits until this function has returned. */
	module_put(THIS_MODULE);
#endif
}

/* Call this before each trace. The size of the first trace is not known yet. */
void htm_trace_reset(struct htm_trace *trace)
{
	*trace = (struct htm_trace){
		.size = trace->size,
		.chunk = HTM_CHUNK_FIRST,
	};
}

/**
 * struct htm_dump - one DUMP_DATA
 * @to: address in the AUX area
 * @length: bytes
 */
struct htm_dump {
	void *to;
	unsigned long length;
};

/* The next dump after @done bytes of a transaction. @length 0: no room, or the end. */
static struct htm_dump htm_aux_next(const struct htm_trace *trace,
				    const struct htm_aux *aux,
				    const struct perf_output_handle *handle, unsigned long done)
{
	unsigned long at = (handle->head + done) & (aux->size - 1);
	unsigned long page = at >> PAGE_SHIFT;
	unsigned long room = ((unsigned long)aux->block_end[page] << PAGE_SHIFT) - at;
	struct htm_dump dump = { .to = aux->pages[page] + offset_in_page(at) };

	/* One byte stays free: the core disables the event when it finds a full area. */
	room = min3(room, handle->size - done - 1, trace->chunk);
	if (trace->size)
		room = min_t(u64, room, trace->size - (trace->offset + done));
	dump.length = round_down(room, HTM_GRANULE);
	return dump;
}

/*
 * Dump one chunk, and adapt the size of later chunks to the time that it takes. The
 * hypervisor does not report how many bytes it writes. So clear the chunk first: old
 * bytes in the ring must not look like trace.
 */
static long htm_dump_chunk(struct htm_trace *trace, const struct htm_where *where,
			   const struct htm_dump *dump, u64 offset)
{
	struct htm_request req = {
		.where = *where,
		.op = HTM_OP_DUMP_DATA,
		.arg = { virt_to_phys(dump->to), dump->length, offset },
	};
	u64 cost = local_clock();
	long rc;

	memset(dump->to, 0, dump->length);
	rc = htm_hcall_atomic(&req);
	cost = local_clock() - cost;

	if (cost > HTM_BUDGET_NS)
		trace->chunk = max(trace->chunk / 2, HTM_GRANULE);
	else if (cost < HTM_BUDGET_NS / 2 && dump->length == trace->chunk)
		trace->chunk = min(trace->chunk * 2, HTM_CHUNK_MAX);
	return rc;
}

/* A dump was busy or refused: retry later, STOP the macro again, or end the trace. */
static void htm_dump_failed(struct htm_trace *trace, struct htm_macro *macro,
			    struct htm_announcer *announcer, long rc)
{
	if (htm_is_busy(rc)) {
		trace->retry_at = htm_now() + htm_busy_ns(rc);
		return;
	}
	if (rc == H_STATE && !trace->stopped_again) {
		trace->stopped_again = true;
		htm_macro_stop_again(macro);
		return;
	}
	trace->end = true;
	if (rc == H_NOT_AVAILABLE)
		return;
	announcer->partial = true;
	htm_announce_error(announcer, HTM_OP_DUMP_DATA, htm_errno(rc), rc);
	htm_macro_log(macro, HTM_OP_DUMP_DATA, rc);
}

/* Dump until the time is over, the area is full or the trace ends. */
static unsigned long htm_trace_fill(struct htm_trace *trace, struct htm_macro *macro,
				    struct htm_announcer *announcer, const struct htm_aux *aux,
				    struct perf_output_handle *handle)
{
	u64 deadline = local_clock() + HTM_BUDGET_NS;
	unsigned long done = 0;

	do {
		struct htm_dump dump = htm_aux_next(trace, aux, handle, done);
		long rc;

		if (!dump.length)
			break;
		rc = htm_dump_chunk(trace, &macro->target->where, &dump, trace->offset + done);
		if (rc != H_SUCCESS && rc != H_PARTIAL) {
			htm_dump_failed(trace, macro, announcer, rc);
			break;
		}
		done += dump.length;
	} while (local_clock() < deadline);
	return done;
}

static bool htm_trace_ended(const struct htm_trace *trace, const struct htm_macro *macro)
{
	return macro->state == HTM_READY || trace->end ||
	       (trace->size && trace->offset >= trace->size);
}

/**
 * htm_trace_drain() - move the next part of the trace to the AUX area
 * @trace: progress of the trace
 * @macro: the macro, stopped for good
 * @announcer: holds the losses that the AUX record must flag
 *
 * The flag stays pending until a record with the flag has found room. If necessary,
 * the driver makes a record without bytes for the flag at the end.
 *
 * Return: bytes moved, 0 at the end of the trace, -EAGAIN if no bytes could be moved,
 * -ENXIO without an AUX area.
 */
long htm_trace_drain(struct htm_trace *trace, struct htm_macro *macro,
		     struct htm_announcer *announcer)
{
	struct perf_event *event = announcer->event;
	struct perf_output_handle handle = {};
	bool ended = htm_trace_ended(trace, macro);
	const struct htm_aux *aux;
	unsigned long done = 0;
	s64 lost;

	if (ended && !announcer->partial)
		return 0;
	if (!ended && htm_now() < trace->retry_at)
		return -EAGAIN;

	aux = perf_aux_output_begin(&handle, event);
	if (!aux)
		return macro->state == HTM_READY ? 0 : -ENXIO;
	if (!ended) {
		done = htm_trace_fill(trace, macro, announcer, aux, &handle);
		trace->offset += done;
		ended = htm_trace_ended(trace, macro);
	}
	if (announcer->partial && (done || ended))
		perf_aux_output_flag(&handle, PERF_AUX_FLAG_PARTIAL);
	lost = htm_announce_lost(event);
	/* The reader must not see the new head before the bytes. */
	smp_wmb();
	perf_aux_output_end(&handle, done);
	if ((done || ended) && htm_announce_lost(event) == lost)
		announcer->partial = false;

	if (done)
		return done;
	return ended && !announcer->partial ? 0 : -EAGAIN;
}
