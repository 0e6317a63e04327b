// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/io.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <asm/hvcall.h>

#include "htm_session.h"

/*
 * STATUS: log2 of the trace memory is in byte 1 of the header. Anything outside
 * 4 KiB to 256 TiB is taken as "not known".
 */
#define HTM_STATUS_LENGTH	SZ_4K
#define HTM_STATUS_LOG2		1
#define HTM_SIZE_LOG2_MIN	12
#define HTM_SIZE_LOG2_MAX	48

/* The worker waits for the hypervisor, so it must not hold up a shared queue. */
static struct workqueue_struct *htm_workqueue;

/* The next operation on the way to what is wanted; the lock is held. */
static enum htm_op htm_session_next_op(const struct htm_session *session)
{
	if (!session->want_trace)
		return session->state == HTM_TRACING ? HTM_OP_STOP : HTM_OP_NONE;
	if (session->state == HTM_TRACING || session->error)
		return HTM_OP_NONE;
	if (session->rearm)
		return session->target->configured ? HTM_OP_DECONFIGURE : HTM_OP_CONFIGURE;
	return HTM_OP_START;
}

/* Note a refusal, to be announced by a callback and logged by the worker. */
static void htm_session_note_refusal(struct htm_session *session, enum htm_op op, int err,
				     long rc)
{
	session->refusal = (struct htm_refusal){ .op = op, .err = err, .rc = rc };
	session->unlogged = true;
	session->pending |= BIT(HTM_ERROR);
}

/* Take the result of an operation into the state; the lock is held. */
static void htm_session_take_result(struct htm_session *session, enum htm_op op, int err,
				    long rc)
{
	/* STOP of a macro that does not trace: what was wanted. */
	if (op == HTM_OP_STOP && rc == H_STATE)
		err = 0;
	if (err)
		htm_session_note_refusal(session, op, err, rc);

	if (op == HTM_OP_STOP) {
		/*
		 * After a refusal nobody knows. Go on as if stopped: the
		 * hypervisor refuses to dump a macro that still traces.
		 */
		session->state = HTM_STOPPED;
		return;
	}
	if (err) {
		session->error = err;
		session->disable = true;
		return;
	}
	if (op == HTM_OP_START)
		session->state = HTM_TRACING;
	if (op == HTM_OP_CONFIGURE) {
		session->state = HTM_READY;
		session->rearm = false;
	}
}

static void htm_session_apply(struct htm_session *session, enum htm_op op, int err, long rc)
{
	scoped_guard(raw_spinlock_irqsave, &session->lock)
		htm_session_take_result(session, op, err, rc);
}

/*
 * Move the macro to where it shall be, with interrupts off. The claim is held
 * on entry; it is given up, or given to the worker if something has to wait.
 */
static void htm_session_advance(struct htm_session *session)
{
	struct htm_request req = { .where = session->target->where };
	long rc;

	for (;;) {
		scoped_guard(raw_spinlock_irqsave, &session->lock) {
			req.op = htm_session_next_op(session);
			if (req.op == HTM_OP_NONE && !session->unlogged) {
				session->claimed = false;
				return;
			}
		}
		if (req.op != HTM_OP_START && req.op != HTM_OP_STOP)
			break;
		rc = htm_hcall_atomic(&req);
		if (htm_is_busy(rc))
			break;
		htm_session_apply(session, req.op, htm_errno(rc), rc);
	}
	/* A scheduler lock may be held: only an interrupt can wake the worker. */
	irq_work_queue(&session->kick);
}

static void htm_session_kick(struct irq_work *kick)
{
	struct htm_session *session = container_of(kick, struct htm_session, kick);

	queue_work(htm_workqueue, &session->work);
}

/* Issue one operation and wait for the hypervisor as long as is sensible. */
static int htm_session_issue(struct htm_session *session, enum htm_op op, long *rc)
{
	struct htm_request req = { .where = session->target->where, .op = op };

	switch (op) {
	case HTM_OP_CONFIGURE:
		return htm_target_configure(session->target, false, rc);
	case HTM_OP_DECONFIGURE:
		return htm_target_deconfigure(session->target, false, rc);
	default:
		return htm_hcall_sleep(&req, false, rc);
	}
}

/* Move the macro to where it shall be, in process context, holding the claim. */
static void htm_session_work(struct work_struct *work)
{
	struct htm_session *session = container_of(work, struct htm_session, work);
	struct htm_refusal refusal = {};
	bool disable = false;
	enum htm_op op;
	long rc;

	do {
		scoped_guard(raw_spinlock_irqsave, &session->lock) {
			if (session->unlogged)
				refusal = session->refusal;
			session->unlogged = false;
			op = htm_session_next_op(session);
			if (op == HTM_OP_NONE) {
				disable = session->disable;
				session->disable = false;
				session->claimed = false;
			}
		}
		if (refusal.op != HTM_OP_NONE)
			htm_log_refusal(&session->target->where, refusal.op, refusal.rc);
		refusal.op = HTM_OP_NONE;
		if (op != HTM_OP_NONE) {
			int err = htm_session_issue(session, op, &rc);

			htm_session_apply(session, op, err, rc);
		}
	} while (op != HTM_OP_NONE);

	/* A refused START leaves nothing to be active for. */
	if (disable)
		perf_event_disable(session->event);
}

/* Set the goal and, if nobody is at it, go there. */
static void htm_session_want(struct htm_session *session, bool trace)
{
	scoped_guard(raw_spinlock_irqsave, &session->lock) {
		session->want_trace = trace;
		if (session->claimed)
			return;
		session->claimed = true;
	}
	htm_session_advance(session);
}

/* Trace, unless the trace is being taken away already. */
void htm_session_start(struct htm_session *session)
{
	if (!session->draining)
		htm_session_want(session, true);
	htm_announce(session);
}

void htm_session_stop(struct htm_session *session)
{
	htm_session_want(session, false);
	htm_announce(session);
}

/**
 * htm_session_enable() - the event was added: a new try, or a new trace
 * @session: the session
 *
 * Return: errno of a refused START if the event is pinned, so that the core
 * moves it to the error state; otherwise 0, and the worker disables the event.
 * An error for other events would make the core try again at each tick.
 */
int htm_session_enable(struct htm_session *session)
{
	int err;

	scoped_guard(raw_spinlock_irqsave, &session->lock) {
		session->error = 0;
		if (!session->claimed && !session->pending && session->trace.over &&
		    session->map.over) {
			session->draining = false;
			session->rearm = true;
			session->state = HTM_READY;
			htm_trace_reset(session);
			htm_map_reset(session);
		}
	}
	htm_session_start(session);

	scoped_guard(raw_spinlock_irqsave, &session->lock) {
		err = session->event->attr.pinned ? session->error : 0;
		if (err)
			session->disable = false;
	}
	return err;
}

/**
 * htm_session_claim_stopped() - stop the trace for good and take the claim
 * @session: the session
 *
 * Return: false if the hypervisor has not stopped it yet, or if this call
 * comes from inside another one.
 */
bool htm_session_claim_stopped(struct htm_session *session)
{
	bool claimed;

	scoped_guard(raw_spinlock_irqsave, &session->lock) {
		if (!session->draining)
			session->pending |= BIT(HTM_TRACE_BEGIN);
		session->draining = true;
	}
	htm_session_want(session, false);

	scoped_guard(raw_spinlock_irqsave, &session->lock) {
		claimed = !session->claimed;
		session->claimed = true;
	}
	return claimed;
}

/* Give up the claim; what was wanted or refused meanwhile is seen to. */
void htm_session_release(struct htm_session *session)
{
	htm_session_advance(session);
}

/* The claim's holder has found that the macro is not stopped after all. */
void htm_session_still_tracing(struct htm_session *session)
{
	scoped_guard(raw_spinlock_irqsave, &session->lock)
		session->state = HTM_TRACING;
}

/* Note a refused dump. */
void htm_session_refused(struct htm_session *session, enum htm_op op, long rc)
{
	scoped_guard(raw_spinlock_irqsave, &session->lock)
		htm_session_note_refusal(session, op, htm_errno(rc), rc);
}

/* Ask STATUS for the size of the trace memory. Not to know it is no failure. */
static int htm_session_ask_size(struct htm_session *session)
{
	const u8 *header = session->block;
	struct htm_request req = {
		.where = session->target->where,
		.op = HTM_OP_STATUS,
		.arg = { virt_to_phys(session->block), HTM_STATUS_LENGTH, 0 },
	};
	long rc;
	int err = htm_hcall_sleep(&req, true, &rc);

	if (err == -EINTR)
		return err;
	if (!err && header[HTM_STATUS_LOG2] >= HTM_SIZE_LOG2_MIN &&
	    header[HTM_STATUS_LOG2] <= HTM_SIZE_LOG2_MAX)
		session->trace.size = 1ULL << header[HTM_STATUS_LOG2];
	return 0;
}

/* CONFIGURE, after what an earlier session may have left over was released. */
static int htm_session_configure(struct htm_session *session)
{
	struct htm_target *target = session->target;
	enum htm_op op = HTM_OP_DECONFIGURE;
	long rc = H_SUCCESS;
	int err = 0;

	if (target->configured)
		err = htm_target_deconfigure(target, true, &rc);
	if (!err) {
		op = HTM_OP_CONFIGURE;
		err = htm_target_configure(target, true, &rc);
	}
	if (err && err != -EINTR)
		htm_log_refusal(&target->where, op, rc);
	return err;
}

/**
 * htm_session_open() - reserve and configure a trace macro for an event
 * @event: the event
 * @where: the macro
 *
 * Return: the session, or the errno for the opener.
 */
struct htm_session *htm_session_open(struct perf_event *event, const struct htm_where *where)
{
	struct htm_session *session = kzalloc(sizeof(*session), GFP_KERNEL);
	int err = -ENOMEM;

	if (!session)
		return ERR_PTR(-ENOMEM);
	session->event = event;
	session->state = HTM_READY;
	raw_spin_lock_init(&session->lock);
	init_irq_work(&session->kick, htm_session_kick);
	INIT_WORK(&session->work, htm_session_work);
	htm_trace_reset(session);
	htm_map_reset(session);

	session->block = kzalloc(HTM_BLOCK_ALLOC, GFP_KERNEL);
	if (!session->block)
		goto free_session;
	session->target = htm_target_reserve(where);
	if (IS_ERR(session->target)) {
		err = PTR_ERR(session->target);
		goto free_block;
	}

	err = htm_session_ask_size(session);
	if (!err)
		err = htm_session_configure(session);
	if (!err)
		return session;

	htm_target_release(session->target);
free_block:
	kfree(session->block);
free_session:
	kfree(session);
	return ERR_PTR(err);
}

/* The event is gone: leave nothing configured. */
void htm_session_close(struct htm_session *session)
{
	struct htm_target *target = session->target;
	struct htm_request stop = { .where = target->where, .op = HTM_OP_STOP };
	long rc;

	irq_work_sync(&session->kick);
	cancel_work_sync(&session->work);

	/* A claim that nobody holds any more: START or STOP was not finished. */
	if (session->state == HTM_TRACING || session->claimed)
		htm_hcall_sleep(&stop, false, &rc);
	if (target->configured && htm_target_deconfigure(target, false, &rc))
		htm_log_refusal(&target->where, HTM_OP_DECONFIGURE, rc);

	htm_target_release(target);
	kfree(session->block);
	kfree(session);
}

int htm_session_init(void)
{
	htm_workqueue = alloc_workqueue("htm", WQ_UNBOUND, 0);
	return htm_workqueue ? 0 : -ENOMEM;
}

void htm_session_exit(void)
{
	destroy_workqueue(htm_workqueue);
}
