/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One open htm event.
 *
 * The perf callbacks of an event run on its CPU with interrupts off, one at a
 * time, but for pause and resume, which come at any time; they only say what
 * they want. Whoever holds the claim moves the macro there: the callback itself
 * while the hypervisor answers at once, the worker, which can sleep, from the
 * first busy answer on.
 */
#ifndef HTM_SESSION_H
#define HTM_SESSION_H

#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <linux/workqueue.h>

#include "htm_block.h"
#include "htm_target.h"

/**
 * enum htm_state - what the macro does, as far as this driver knows
 * @HTM_READY: has no trace that anybody could want. START -> TRACING, after a
 *	DECONFIGURE and CONFIGURE if the macro is to be armed anew.
 * @HTM_TRACING: traces. STOP -> STOPPED.
 * @HTM_STOPPED: holds a trace. START -> TRACING, until something was dumped;
 *	everything dumped and enabled again -> READY.
 *
 * The first read of a TRACING macro stops it, and START is not issued again
 * until everything has been dumped.
 */
enum htm_state {
	HTM_READY,
	HTM_TRACING,
	HTM_STOPPED,
};

/* Kinds of announcement, bits 56-63 of PERF_RECORD_AUX_OUTPUT_HW_ID. See ABI. */
enum htm_announcement {
	HTM_TRACE_BEGIN = 1,
	HTM_TRACE_END = 2,
	HTM_MAP_BEGIN = 3,
	HTM_MAP_END = 4,
	HTM_ERROR = 5,
};

/**
 * struct htm_refusal - an operation that the hypervisor refused
 * @op: the operation
 * @rc: the hypervisor's answer
 */
struct htm_refusal {
	enum htm_op op;
	long rc;
};

/**
 * struct htm_trace_cursor - how far the trace was moved to the AUX area
 * @size: bytes in the macro's trace memory, 0 if not known
 * @offset: bytes moved; advances only after they are committed
 * @chunk: longest dump at present, adapted to what a dump costs
 * @restopped: a dump found the macro in the wrong state, it was stopped again
 * @end: the hypervisor has no more
 * @over: the end was noticed and nothing will be moved any more
 */
struct htm_trace_cursor {
	u64 size;
	u64 offset;
	unsigned long chunk;
	bool restopped;
	bool end;
	bool over;
};

/**
 * struct htm_map_cursor - how far the memory map was moved to the data ring
 * @iterator: names the next block; advances only after the block was written
 * @bytes: bytes moved
 * @length: buffer length to offer; shrinks until a block fits the ring
 * @begun: the begin was announced
 * @end: the hypervisor has no more
 * @over: the end was noticed and nothing will be moved any more
 */
struct htm_map_cursor {
	u64 iterator;
	u64 bytes;
	u32 length;
	bool begun;
	bool end;
	bool over;
};

/**
 * struct htm_session - an open event and its trace macro
 * @event: the event
 * @target: the macro, reserved
 * @control: what is wanted of the macro and who may move it, see htm_goal.c
 * @pending: announcements to be made, BIT(enum htm_announcement)
 * @announcement: their values, by kind
 * @state: what the macro does
 * @rearm: the old trace was taken away, CONFIGURE anew before the next START
 * @error: errno of the last refused START
 * @refusal: the latest refusal
 * @unlogged: the worker shall write @refusal to the log
 * @gap: the trace was interrupted against the user's will, not told yet
 * @aux_mapped: an AUX area exists
 * @retry_at: local_clock() before which a busy dump is not tried again
 * @trace: progress of the trace
 * @map: progress of the memory map
 * @block: room for one block of memory map
 * @kick: takes the claim out of scheduler context
 * @work: takes the claim to where sleeping is possible
 * @regs: all zero; a sample of a memory block has no registers
 *
 * @state to @unlogged, @trace, @map and @block belong to the claim's holder,
 * @gap and @retry_at to the event's CPU.
 */
struct htm_session {
	struct perf_event *event;
	struct htm_target *target;

	atomic_t control;
	atomic_t pending;
	u64 announcement[HTM_ERROR + 1];

	enum htm_state state;
	bool rearm;
	int error;
	struct htm_refusal refusal;
	bool unlogged;

	bool gap;
	bool aux_mapped;
	u64 retry_at;
	struct htm_trace_cursor trace;
	struct htm_map_cursor map;
	void *block;

	struct irq_work kick;
	struct work_struct work;
	struct pt_regs regs;
};

struct htm_session *htm_session_open(struct perf_event *event, const struct htm_where *where,
				     bool wrap);
void htm_session_close(struct htm_session *session);

/* htm_goal.c */
void htm_session_init_goal(struct htm_session *session, bool paused);
bool htm_session_end_goal(struct htm_session *session);
int htm_session_enable(struct htm_session *session);
void htm_session_start(struct htm_session *session);
void htm_session_stop(struct htm_session *session);
void htm_session_pause(struct htm_session *session);
void htm_session_resume(struct htm_session *session);
bool htm_session_claim_stopped(struct htm_session *session);
void htm_session_release(struct htm_session *session);
void htm_session_still_tracing(struct htm_session *session);
void htm_session_refused(struct htm_session *session, enum htm_op op, long rc);

int htm_goal_init(void);
void htm_goal_exit(void);

/* htm_drain.c */
u64 htm_drain(struct htm_session *session);
bool htm_announce(struct htm_session *session);
void htm_announce_later(struct htm_session *session, enum htm_announcement kind, u64 value);
void htm_announce_error(struct htm_session *session, enum htm_op op, int err, long rc);
bool htm_is_announcing(const struct htm_session *session);
bool htm_dump_is_due(const struct htm_session *session);
void htm_dump_was_busy(struct htm_session *session, long rc);

/* htm_aux.c */
void *htm_aux_setup(struct perf_event *event, void **pages, int nr_pages, bool overwrite);
void htm_aux_free(void *aux);
long htm_trace_drain(struct htm_session *session);
void htm_trace_reset(struct htm_session *session);

/* htm_memmap.c */
long htm_map_drain(struct htm_session *session);
void htm_map_reset(struct htm_session *session);

#endif /* HTM_SESSION_H */
