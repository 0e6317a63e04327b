/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Delivery of the trace from the macro's memory to the AUX area. */
#ifndef HTM_TRACE_H
#define HTM_TRACE_H

#include "htm_announce.h"

/**
 * struct htm_trace - progress of moving a trace to the AUX area
 * @size: bytes in the macro's trace memory, 0 if not known
 * @offset: bytes moved; advances only after they are committed
 * @chunk: present maximum length of a dump, adapted to the time that a dump takes
 * @retry_at: earliest htm_now() for the retry of a busy dump
 * @stopped_again: a dump found the macro in the wrong state, so it was stopped again
 * @end: the hypervisor has no further trace data
 * @over: the end was announced; no further trace data will be moved
 */
struct htm_trace {
	u64 size;
	u64 offset;
	unsigned long chunk;
	u64 retry_at;
	bool stopped_again;
	bool end;
	bool over;
};

void *htm_aux_setup(struct perf_event *event, void **pages, int nr_pages, bool overwrite);
void htm_aux_free(void *aux);

void htm_trace_reset(struct htm_trace *trace);
long htm_trace_drain(struct htm_trace *trace, struct htm_macro *macro,
		     struct htm_announcer *announcer);

#endif /* HTM_TRACE_H */
