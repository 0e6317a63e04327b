// SPDX-License-Identifier: GPL-2.0-or-later
/* The requested state of a trace macro, and the steps to this state. See htm_macro.h. */
#include <linux/atomic.h>
#include <linux/bits.h>
#include <asm/hvcall.h>

#include "htm_macro.h"

/*
 * HTM_CLAIMED: a caller or the worker moves the macro.
 * HTM_HANDED: the worker moves the macro.
 * HTM_ENABLED: the core has started the event.
 * HTM_INTERRUPTED: the core has stopped the event, and not taken it off its CPU.
 * HTM_PAUSED: a group member has paused the trace.
 * HTM_DRAINING: a read has stopped the trace for good.
 * HTM_REARM: the old trace was delivered; CONFIGURE again before the next START.
 * HTM_STOP_AGAIN: a dump has found the macro not stopped.
 * HTM_REFUSED: START was refused and must not be repeated until the next enable.
 * HTM_DISABLE: the event must be disabled, because START was refused.
 * HTM_FRESH: enabled since the last START was issued; retry if that START is refused.
 */
#define HTM_CLAIMED	BIT(0)
#define HTM_HANDED	BIT(1)
#define HTM_ENABLED	BIT(2)
#define HTM_INTERRUPTED	BIT(3)
#define HTM_PAUSED	BIT(4)
#define HTM_DRAINING	BIT(5)
#define HTM_REARM	BIT(6)
#define HTM_STOP_AGAIN	BIT(7)
#define HTM_REFUSED	BIT(8)
#define HTM_DISABLE	BIT(9)
#define HTM_FRESH	BIT(10)

/* The worker waits for the hypervisor, so it must not hold up a shared queue. */
struct workqueue_struct *htm_workqueue;

/**
 * htm_macro_log() - have the worker write a refusal to the log
 * @macro: the macro
 * @op: the operation
 * @rc: the hypervisor's answer
 *
 * The caller may hold a scheduler lock, under which printing is not allowed.
 */
void htm_macro_log(struct htm_macro *macro, enum htm_op op, long rc)
{
	htm_refusals_log(&macro->refusals, op, rc);
	irq_work_queue(&macro->kick);
}

/*
 * Only the claim's holder may call the functions up to htm_macro_work().
 */

/* The next operation towards the state that @control requests. */
static enum htm_op htm_macro_next_op(struct htm_macro *macro, int *control)
{
	*control = atomic_read(&macro->control);
	/* The macro at these indices no longer belongs to this partition or driver. */
	if (htm_target_is_lost(macro->target)) {
		if (macro->state == HTM_TRACING)
			macro->state = HTM_STOPPED;
		return HTM_OP_NONE;
	}
	if (*control & HTM_STOP_AGAIN)
		return HTM_OP_STOP;
	if ((*control & (HTM_ENABLED | HTM_PAUSED | HTM_DRAINING)) != HTM_ENABLED)
		return macro->state == HTM_TRACING ? HTM_OP_STOP : HTM_OP_NONE;
	if (macro->state == HTM_TRACING) {
		/* The request to stop was withdrawn before the macro stopped. */
		if (htm_gaps_waits(&macro->gaps))
			htm_gaps_traced(&macro->gaps, 0);
		return HTM_OP_NONE;
	}
	if (*control & HTM_REFUSED)
		return HTM_OP_NONE;
	/* A withdrawn request may have ended the wait that this START still needs. */
	htm_gaps_wait(&macro->gaps, 0, htm_now());
	atomic_fetch_andnot(HTM_FRESH, &macro->control);
	if (*control & HTM_REARM)
		return macro->target->configured ? HTM_OP_DECONFIGURE : HTM_OP_CONFIGURE;
	return HTM_OP_START;
}

/* START or a preceding operation was refused. A newer enable requests a retry. */
static void htm_macro_refuse(struct htm_macro *macro, int err)
{
	int control = atomic_read(&macro->control);

	WRITE_ONCE(macro->error, err);
	do {
		if (control & HTM_FRESH)
			return;
	} while (!atomic_try_cmpxchg(&macro->control, &control,
				     control | HTM_REFUSED | HTM_DISABLE));
}

/*
 * The macro is stopped. If the core interrupted the event while an earlier START was
 * in progress, that START ended the wait, and the gap begins now.
 */
static void htm_macro_note_stop(struct htm_macro *macro)
{
	int control = atomic_read(&macro->control);

	if ((control & (HTM_INTERRUPTED | HTM_PAUSED | HTM_DRAINING | HTM_REFUSED)) ==
	    HTM_INTERRUPTED)
		htm_gaps_wait(&macro->gaps, READ_ONCE(macro->interrupted_why), htm_now());
}

/* Update the state with an operation's result. @late: the worker issued the operation. */
static void htm_macro_take_result(struct htm_macro *macro, enum htm_op op, int err, long rc,
				  bool late)
{
	/* STOP of a macro that does not trace: it is in the requested state. */
	if (op == HTM_OP_STOP && rc == H_STATE)
		err = 0;
	/* Not every error is an answer of the hypervisor. */
	if (err && rc != H_SUCCESS) {
		htm_refusals_announce(&macro->refusals, op, rc);
		if (late)
			htm_log_refusal(&macro->target->where, op, rc);
		else
			htm_macro_log(macro, op, rc);
	}

	switch (op) {
	case HTM_OP_STOP:
		/*
		 * After a refusal the state is unknown. Continue as if stopped:
		 * the hypervisor refuses to dump a macro that still traces.
		 */
		macro->state = HTM_STOPPED;
		atomic_andnot(HTM_STOP_AGAIN, &macro->control);
		htm_macro_note_stop(macro);
		return;
	case HTM_OP_START:
		if (err)
			break;
		macro->state = HTM_TRACING;
		htm_gaps_traced(&macro->gaps, late ? HTM_WHY_LATE : 0);
		return;
	case HTM_OP_CONFIGURE:
		if (!err)
			atomic_andnot(HTM_REARM, &macro->control);
		break;
	default:
		break;
	}
	if (err)
		htm_macro_refuse(macro, err);
}

/*
 * Move the macro to the requested state, without waiting, in any context.
 *
 * Return: true if the macro is in the state that @control requests; false if an
 * operation has to wait, and then the worker has the claim.
 */
static bool htm_macro_settle(struct htm_macro *macro, int *control)
{
	struct htm_request req = { .where = macro->target->where };
	long rc;

	for (;;) {
		req.op = htm_macro_next_op(macro, control);
		if (req.op == HTM_OP_NONE)
			return true;
		if (req.op != HTM_OP_START && req.op != HTM_OP_STOP)
			break;
		rc = htm_hcall_atomic(&req);
		if (htm_is_busy(rc))
			break;
		htm_macro_take_result(macro, req.op, htm_errno(rc), rc, false);
	}
	atomic_fetch_or(HTM_HANDED, &macro->control);
	/* The caller may hold a scheduler lock: only an interrupt can wake the worker. */
	irq_work_queue(&macro->kick);
	return false;
}

/* Give up the claim, then handle requests that arrived meanwhile. */
static void htm_macro_release(struct htm_macro *macro)
{
	int control;

	do {
		if (!htm_macro_settle(macro, &control))
			return;
	} while (!atomic_try_cmpxchg(&macro->control, &control, control & ~HTM_CLAIMED));
}

/* Issue one operation and wait for the hypervisor, within limits. */
static int htm_macro_issue(struct htm_macro *macro, enum htm_op op, long *rc)
{
	struct htm_request req = { .where = macro->target->where, .op = op };

	switch (op) {
	case HTM_OP_CONFIGURE:
		return htm_target_configure(macro->target, false, rc);
	case HTM_OP_DECONFIGURE:
		return htm_target_deconfigure(macro->target, false, rc);
	default:
		return htm_hcall_sleep(&req, false, rc);
	}
}

/* Move the macro to the requested state in process context, then give up the claim. */
static void htm_macro_settle_sleeping(struct htm_macro *macro)
{
	int control, err;
	long rc;

	for (;;) {
		enum htm_op op = htm_macro_next_op(macro, &control);
		int done = control & ~(HTM_CLAIMED | HTM_HANDED);

		if (op == HTM_OP_NONE) {
			if (atomic_try_cmpxchg(&macro->control, &control, done))
				return;
			continue;
		}
		err = htm_macro_issue(macro, op, &rc);
		htm_macro_take_result(macro, op, err, rc, true);
	}
}

static void htm_macro_work(struct work_struct *work)
{
	struct htm_macro *macro = container_of(work, struct htm_macro, work);

	if (atomic_read(&macro->control) & HTM_HANDED)
		htm_macro_settle_sleeping(macro);
	htm_refusals_write_log(&macro->refusals, &macro->target->where);
	if (htm_gaps_have_news(&macro->gaps) || htm_refusals_have_news(&macro->refusals) ||
	    atomic_read(&macro->control) & HTM_DISABLE)
		macro->report(macro->owner);
}

static void htm_macro_kick(struct irq_work *kick)
{
	struct htm_macro *macro = container_of(kick, struct htm_macro, kick);

	queue_work(htm_workqueue, &macro->work);
}

/*
 * The functions below are requests.
 */

/* A request has withdrawn the trace: end the wait, and count it if START was refused. */
static void htm_macro_give_up(struct htm_macro *macro, int control)
{
	htm_gaps_unwanted(&macro->gaps, control & HTM_REFUSED ? HTM_WHY_REFUSED : 0);
}

/* If the claim is free, acquire it and move the macro to the requested state. */
static void htm_macro_move(struct htm_macro *macro)
{
	if (!(atomic_fetch_or(HTM_CLAIMED, &macro->control) & HTM_CLAIMED))
		htm_macro_release(macro);
}

/**
 * htm_macro_enable() - start to trace, because the event was added to its CPU
 * @macro: the macro
 * @why: HTM_WHY_RESCHEDULED if it was enabled all the time, or 0
 * @since: time of the request for a trace
 *
 * An enable retries START after a refusal. Adding the event again does not.
 *
 * Return: 0, or the errno of a START that was refused.
 */
int htm_macro_enable(struct htm_macro *macro, int why, u64 since)
{
	int set = why ? HTM_ENABLED : HTM_ENABLED | HTM_FRESH;
	int clear = why ? 0 : HTM_REFUSED | HTM_DISABLE;
	int control = atomic_read(&macro->control);

	/* Wait before request: a CPU that sees the request also sees the wait. */
	if (!(control & (HTM_PAUSED | HTM_DRAINING)))
		htm_gaps_wait(&macro->gaps, why, since);
	/* Use one step, because an earlier START can be refused between two steps. */
	while (!atomic_try_cmpxchg(&macro->control, &control, (control & ~clear) | set))
		continue;
	htm_macro_move(macro);
	return atomic_read(&macro->control) & HTM_REFUSED ? READ_ONCE(macro->error) : 0;
}

/**
 * htm_macro_fail() - the event was not added, because START was refused
 * @macro: the macro
 */
void htm_macro_fail(struct htm_macro *macro)
{
	atomic_fetch_andnot(HTM_ENABLED | HTM_DISABLE, &macro->control);
	htm_gaps_forget(&macro->gaps);
}

/* The event was removed from its CPU. */
void htm_macro_disable(struct htm_macro *macro)
{
	int old = atomic_fetch_andnot(HTM_ENABLED | HTM_INTERRUPTED, &macro->control);

	htm_macro_give_up(macro, old);
	htm_macro_move(macro);
}

/**
 * htm_macro_interrupt() - the core stops an enabled event
 * @macro: the macro
 * @why: HTM_WHY_* of the stop
 *
 * The user did not request this stop, so the trace has a gap until the core starts
 * the event again.
 */
void htm_macro_interrupt(struct htm_macro *macro, int why)
{
	int old;

	WRITE_ONCE(macro->interrupted_why, why);
	atomic_fetch_or(HTM_INTERRUPTED, &macro->control);
	old = atomic_fetch_andnot(HTM_ENABLED, &macro->control);
	if ((old & (HTM_ENABLED | HTM_PAUSED | HTM_DRAINING | HTM_REFUSED)) == HTM_ENABLED)
		htm_gaps_wait(&macro->gaps, why, htm_now());
	htm_macro_move(macro);
}

/* The core restarts an event that it has stopped. */
void htm_macro_continue(struct htm_macro *macro)
{
	atomic_fetch_or(HTM_ENABLED, &macro->control);
	atomic_fetch_andnot(HTM_INTERRUPTED, &macro->control);
	htm_macro_move(macro);
}

void htm_macro_pause(struct htm_macro *macro)
{
	htm_macro_give_up(macro, atomic_fetch_or(HTM_PAUSED, &macro->control));
	htm_macro_move(macro);
}

void htm_macro_resume(struct htm_macro *macro)
{
	int control = atomic_read(&macro->control);

	if (control & HTM_PAUSED && control & (HTM_ENABLED | HTM_INTERRUPTED) &&
	    !(control & (HTM_DRAINING | HTM_REFUSED)))
		htm_gaps_wait(&macro->gaps,
			      control & HTM_INTERRUPTED ? READ_ONCE(macro->interrupted_why) : 0,
			      htm_now());
	atomic_fetch_andnot(HTM_PAUSED, &macro->control);
	htm_macro_move(macro);
}

/**
 * htm_macro_rearm() - the trace was delivered: start a new trace when enabled
 * @macro: a macro that is stopped for good, see htm_macro_finish()
 */
void htm_macro_rearm(struct htm_macro *macro)
{
	macro->state = HTM_READY;
	htm_gaps_rearm(&macro->gaps);
	atomic_fetch_or(HTM_REARM, &macro->control);
	atomic_fetch_andnot(HTM_DRAINING, &macro->control);
}

/**
 * htm_macro_finish() - stop the trace for good, to dump it
 * @macro: the macro
 *
 * Return: true if the trace is stopped; false if the hypervisor is busy, or if this
 * call interrupts another one.
 */
bool htm_macro_finish(struct htm_macro *macro)
{
	int control = atomic_fetch_or(HTM_DRAINING, &macro->control);

	htm_macro_give_up(macro, control);
	htm_macro_move(macro);
	/* Once the claim is seen free, the worker's changes are visible. */
	return !(atomic_read_acquire(&macro->control) & HTM_CLAIMED);
}

/* A dump was refused: the macro may still trace, despite the answer to STOP. */
void htm_macro_stop_again(struct htm_macro *macro)
{
	atomic_fetch_or(HTM_STOP_AGAIN, &macro->control);
	htm_macro_move(macro);
}

/* Return true, once, if the event must be disabled because of a refusal. */
bool htm_macro_take_disable(struct htm_macro *macro)
{
	return atomic_fetch_andnot(HTM_DISABLE, &macro->control) & HTM_DISABLE;
}

/* Call this before the first request. */
void htm_macro_open(struct htm_macro *macro, struct htm_target *target, bool paused,
		    void (*report)(void *owner), void *owner)
{
	macro->target = target;
	atomic_set(&macro->control, paused ? HTM_PAUSED : 0);
	macro->report = report;
	macro->owner = owner;
	init_irq_work(&macro->kick, htm_macro_kick);
	INIT_WORK(&macro->work, htm_macro_work);
}

/* Call this after the last request: it leaves the macro stopped and not configured. */
void htm_macro_close(struct htm_macro *macro)
{
	struct htm_target *target = macro->target;
	struct htm_request stop = { .where = target->where, .op = HTM_OP_STOP };
	long rc;

	irq_work_sync(&macro->kick);
	cancel_work_sync(&macro->work);
	htm_refusals_write_log(&macro->refusals, &target->where);
	/* If START or STOP is unfinished, the canceled worker has left the claim set. */
	if ((macro->state == HTM_TRACING || atomic_read(&macro->control) & HTM_CLAIMED) &&
	    !htm_target_is_lost(target))
		htm_hcall_sleep(&stop, false, &rc);
	if (target->configured && htm_target_deconfigure(target, false, &rc))
		htm_log_refusal(&target->where, HTM_OP_DECONFIGURE, rc);
}

int htm_macro_init(void)
{
	htm_workqueue = alloc_workqueue("htm", WQ_UNBOUND, 0);
	return htm_workqueue ? 0 : -ENOMEM;
}

void htm_macro_exit(void)
{
	destroy_workqueue(htm_workqueue);
}
