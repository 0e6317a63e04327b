/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of a trace macro: ready, tracing or stopped.
 *
 * The event's callbacks request a state of the macro. The holder of the claim
 * issues the operations that lead to this state. At first, the holder is the
 * caller. From the first busy answer on, the holder is the worker, which can sleep.
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

#include "htm_gaps.h"
#include "htm_refusal.h"
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

/**
 * struct htm_macro - a reserved trace macro
 * @target: the macro
 * @control: the requests and the claim, HTM_* bits of htm_macro.c
 * @state: the macro's state; the claim's holder writes it
 * @error: errno of the last refused START
 * @interrupted_why: HTM_WHY_* of the core's latest stop
 * @gaps: times during which a requested trace did not run
 * @refusals: the hypervisor's latest refusals
 * @kick: starts the worker out of scheduler context
 * @work: the worker
 * @report: called in process context when the worker is done and has news
 * @owner: argument of @report
 */
struct htm_macro {
	struct htm_target *target;
	atomic_t control;
	enum htm_state state;
	int error;

	int interrupted_why;
	struct htm_gaps gaps;
	struct htm_refusals refusals;

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

void htm_macro_log(struct htm_macro *macro, enum htm_op op, long rc);

/* For work that may wait for the hypervisor, and that htm_macro_exit() waits for. */
extern struct workqueue_struct *htm_workqueue;

int htm_macro_init(void);
void htm_macro_exit(void);

#endif /* HTM_MACRO_H */
