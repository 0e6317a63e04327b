/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace macro on its way between configured, tracing and stopped.
 *
 * The event's callbacks request a state of the macro. The holder of the claim
 * issues the operations. This is the caller itself while the hypervisor answers
 * at once, and the worker, which can sleep, from the first busy answer on.
 *
 * Most requests arrive on the event's CPU with interrupts off, one at a time.
 * Pause, resume and stop can arrive at any time. For example, if a member of the
 * group samples too often, the core stops the whole group from within the member's
 * overflow, NMI included. So requests are bits of one atomic word, and no requester
 * waits. The claim's holder reads the word again before it gives up the claim.
 */
#ifndef HTM_MACRO_H
#define HTM_MACRO_H

#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/workqueue.h>

#include "htm_target.h"

/**
 * enum htm_state - the state of the macro, as far as this driver knows
 * @HTM_READY: has no trace to deliver. START -> TRACING, after a DECONFIGURE and
 *	CONFIGURE if the macro must be armed again.
 * @HTM_TRACING: traces. STOP -> STOPPED.
 * @HTM_STOPPED: holds a trace. START -> TRACING, until the drain has begun.
 */
enum htm_state {
	HTM_READY,
	HTM_TRACING,
	HTM_STOPPED,
};

/*
 * Reasons of a gap or a late start; bits of STARTED and GAP announcements, see ABI.
 */
#define HTM_WHY_LATE		BIT(0)	/* START was finished in the background */
#define HTM_WHY_THROTTLED	BIT(1)	/* the core stopped the group */
#define HTM_WHY_RINGS		BIT(2)	/* the core stopped the event to change its ring */
#define HTM_WHY_RESCHEDULED	BIT(3)	/* the core removed the event from its CPU for a while */
#define HTM_WHY_REFUSED		BIT(4)	/* START was refused */

/**
 * struct htm_untraced - time during which a requested trace did not run
 * @why: HTM_WHY_* bits; 0: nothing to report
 * @ns: length of this time
 */
struct htm_untraced {
	int why;
	u64 ns;
};

/**
 * struct htm_refusal - an operation that the hypervisor refused
 * @op: the operation; HTM_OP_NONE: no operation was refused
 * @rc: the hypervisor's answer
 */
struct htm_refusal {
	enum htm_op op;
	long rc;
};

/**
 * struct htm_macro - a reserved trace macro
 * @target: the macro
 * @control: the requests and the claim, HTM_* bits of htm_macro.c
 * @state: the macro's state; the claim's holder writes it
 * @error: errno of the last refused START
 * @waiting_since: time since which a requested trace does not run; 0: no wait
 * @waiting_why: HTM_WHY_* bits of this wait
 * @begun: the trace has begun; the claim's holder writes it
 * @start_why: HTM_WHY_* bits of the first START
 * @start_ns: time from the request to the first START
 * @gap_ns: unreported untraced time since the trace began
 * @gap_why: HTM_WHY_* bits of @gap_ns
 * @news: HTM_NEWS_* bits of htm_macro.c: changes that must be reported
 * @refusal: the latest refusal, packed
 * @unlogged: a refusal that the worker must write to the log, packed
 * @kick: starts the worker from scheduler context
 * @work: the worker
 * @report: called in process context when the worker is done and has news
 * @owner: argument of @report
 */
struct htm_macro {
	struct htm_target *target;
	atomic_t control;
	enum htm_state state;
	int error;

	atomic64_t waiting_since;
	atomic_t waiting_why;
	bool begun;
	int start_why;
	u64 start_ns;
	atomic64_t gap_ns;
	atomic_t gap_why;

	atomic_t news;
	atomic64_t refusal;
	atomic64_t unlogged;

	struct irq_work kick;
	struct work_struct work;
	void (*report)(void *owner);
	void *owner;
};

void htm_macro_open(struct htm_macro *macro, struct htm_target *target, bool paused,
		    void (*report)(void *owner), void *owner);
void htm_macro_close(struct htm_macro *macro);

/* Requests. */
int htm_macro_enable(struct htm_macro *macro, int why, u64 since);
void htm_macro_fail(struct htm_macro *macro);
void htm_macro_disable(struct htm_macro *macro);
void htm_macro_interrupt(struct htm_macro *macro, int why);
void htm_macro_continue(struct htm_macro *macro);
void htm_macro_pause(struct htm_macro *macro);
void htm_macro_resume(struct htm_macro *macro);
void htm_macro_rearm(struct htm_macro *macro);
bool htm_macro_finish(struct htm_macro *macro);
void htm_macro_stop_again(struct htm_macro *macro);
bool htm_macro_take_disable(struct htm_macro *macro);

/* News; each function reports a change once. */
bool htm_macro_take_start(struct htm_macro *macro, struct htm_untraced *late);
bool htm_macro_take_gap(struct htm_macro *macro, struct htm_untraced *gap);
bool htm_macro_take_refusal(struct htm_macro *macro, struct htm_refusal *refusal);
void htm_macro_log(struct htm_macro *macro, enum htm_op op, long rc);

u64 htm_now(void);

/* For work that may wait for the hypervisor. htm_macro_exit() waits for this work. */
extern struct workqueue_struct *htm_workqueue;

int htm_macro_init(void);
void htm_macro_exit(void);

#endif /* HTM_MACRO_H */
