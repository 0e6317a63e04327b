// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the core wants of a macro, and how it gets there.
 *
 * Wishes and claim are bits of one word. A caller adds its wish, then tries to
 * take the claim. Who has it looks at the word again before giving it up, so a
 * wish that came meanwhile, from another CPU, from an NMI or from a probe in
 * the middle of these functions, is seen to, and nobody ever waits.
 */
#include <linux/atomic.h>
#include <linux/bits.h>
#include <asm/hvcall.h>

#include "htm_session.h"

/*
 * HTM_CLAIMED: somebody moves the macro or the trace; hands off.
 * HTM_ENABLED: the core has started the event.
 * HTM_PAUSED: a group member has paused it.
 * HTM_DRAINING: a read has stopped the trace for good.
 * HTM_RENEW: enabled again; arm the macro anew if the old trace was taken away.
 * HTM_REFUSED: START was refused and must not be repeated until the next enable.
 * HTM_DISABLE: the worker shall disable the event, for START was refused.
 */
#define HTM_CLAIMED	BIT(0)
#define HTM_ENABLED	BIT(1)
#define HTM_PAUSED	BIT(2)
#define HTM_DRAINING	BIT(3)
#define HTM_RENEW	BIT(4)
#define HTM_REFUSED	BIT(5)
#define HTM_DISABLE	BIT(6)

/* The worker waits for the hypervisor, so it must not hold up a shared queue. */
static struct workqueue_struct *htm_workqueue;

/*
 * The functions up to htm_session_work() are for the claim's holder, to whom
 * everything in the session belongs but the word and the announcements.
 */

/* Forget the old trace if all of it was delivered. */
static void htm_session_renew(struct htm_session *session)
{
	int done = HTM_RENEW;

	if (session->trace.over && session->map.over && !htm_is_announcing(session)) {
		session->rearm = true;
		session->state = HTM_READY;
		htm_trace_reset(session);
		htm_map_reset(session);
		done |= HTM_DRAINING;
	}
	atomic_andnot(done, &session->control);
}

/* The next operation on the way to what @control says. */
static enum htm_op htm_session_next_op(struct htm_session *session, int *control)
{
	*control = atomic_read(&session->control);
	if (*control & HTM_RENEW) {
		htm_session_renew(session);
		*control = atomic_read(&session->control);
	}
	if ((*control & (HTM_ENABLED | HTM_PAUSED | HTM_DRAINING)) != HTM_ENABLED)
		return session->state == HTM_TRACING ? HTM_OP_STOP : HTM_OP_NONE;
	if (session->state == HTM_TRACING || *control & HTM_REFUSED)
		return HTM_OP_NONE;
	if (session->rearm)
		return session->target->configured ? HTM_OP_DECONFIGURE : HTM_OP_CONFIGURE;
	return HTM_OP_START;
}

/* Note a refusal, to be announced by a callback and logged by the worker. */
static void htm_session_note_refusal(struct htm_session *session, enum htm_op op, int err,
				     long rc)
{
	session->refusal = (struct htm_refusal){ .op = op, .rc = rc };
	session->unlogged = true;
	htm_announce_error(session, op, err, rc);
}

/* Take the result of an operation into the state. */
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
		WRITE_ONCE(session->error, err);
		atomic_fetch_or(HTM_REFUSED | HTM_DISABLE, &session->control);
		return;
	}
	if (op == HTM_OP_START)
		session->state = HTM_TRACING;
	if (op == HTM_OP_CONFIGURE) {
		session->state = HTM_READY;
		session->rearm = false;
	}
}

/*
 * Move the macro to where it shall be, without waiting, in any context.
 *
 * Return: true if it is there, and then @control is what was wanted; false if
 * something has to wait, and then the worker has the claim.
 */
static bool htm_session_settle(struct htm_session *session, int *control)
{
	struct htm_request req = { .where = session->target->where };
	long rc;

	for (;;) {
		req.op = htm_session_next_op(session, control);
		if (req.op == HTM_OP_NONE && !session->unlogged)
			return true;
		if (req.op != HTM_OP_START && req.op != HTM_OP_STOP)
			break;
		rc = htm_hcall_atomic(&req);
		if (htm_is_busy(rc))
			break;
		htm_session_take_result(session, req.op, htm_errno(rc), rc);
	}
	/* A scheduler lock may be held: only an interrupt can wake the worker. */
	irq_work_queue(&session->kick);
	return false;
}

/* Give up the claim; what was wanted or refused meanwhile is seen to. */
void htm_session_release(struct htm_session *session)
{
	int control;

	do {
		if (!htm_session_settle(session, &control))
			return;
	} while (!atomic_try_cmpxchg(&session->control, &control, control & ~HTM_CLAIMED));
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

/* Move the macro to where it shall be, in process context, then give up the claim. */
static void htm_session_work(struct work_struct *work)
{
	struct htm_session *session = container_of(work, struct htm_session, work);
	enum htm_op op;
	int control, err;
	long rc;

	for (;;) {
		if (session->unlogged)
			htm_log_refusal(&session->target->where, session->refusal.op,
					session->refusal.rc);
		session->unlogged = false;

		op = htm_session_next_op(session, &control);
		if (op == HTM_OP_NONE) {
			int done = control & ~(HTM_CLAIMED | HTM_DISABLE);

			if (atomic_try_cmpxchg(&session->control, &control, done))
				break;
			continue;
		}
		err = htm_session_issue(session, op, &rc);
		htm_session_take_result(session, op, err, rc);
	}

	/* A refused START leaves nothing to be active for. */
	if (control & HTM_DISABLE)
		perf_event_disable(session->event);
}

/* The holder has found that the macro is not stopped after all. */
void htm_session_still_tracing(struct htm_session *session)
{
	session->state = HTM_TRACING;
}

/* The holder's dump was refused. */
void htm_session_refused(struct htm_session *session, enum htm_op op, long rc)
{
	htm_session_note_refusal(session, op, htm_errno(rc), rc);
}

/*
 * From here on: wishes. Ordinary ones come on the event's CPU with interrupts
 * off, one at a time; pause and resume come at any time.
 */

/* Add wishes and, if nobody is at it, see to them. Returns the word before. */
static int htm_session_want(struct htm_session *session, int wishes)
{
	int old = atomic_fetch_or(wishes | HTM_CLAIMED, &session->control);

	if (!(old & HTM_CLAIMED))
		htm_session_release(session);
	return old;
}

/* Take back wishes and, if nobody is at it, see to what is left. */
static void htm_session_unwant(struct htm_session *session, int wishes)
{
	atomic_fetch_andnot(wishes, &session->control);
	htm_session_want(session, 0);
}

/**
 * htm_session_start() - the core starts an event that it has stopped
 * @session: the session
 *
 * Nobody asked for this stop, the core has throttled the group: what was
 * executed meanwhile is missing in the trace.
 */
void htm_session_start(struct htm_session *session)
{
	int old = htm_session_want(session, HTM_ENABLED);

	if (!(old & (HTM_ENABLED | HTM_PAUSED | HTM_DRAINING | HTM_REFUSED)))
		session->gap = true;
	htm_announce(session);
}

void htm_session_stop(struct htm_session *session)
{
	htm_session_unwant(session, HTM_ENABLED);
	htm_announce(session);
}

/* No announcement here: the sample of whoever pauses is being written. */
void htm_session_pause(struct htm_session *session)
{
	htm_session_want(session, HTM_PAUSED);
}

void htm_session_resume(struct htm_session *session)
{
	htm_session_unwant(session, HTM_PAUSED);
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
	atomic_fetch_andnot(HTM_REFUSED | HTM_DISABLE, &session->control);
	htm_session_want(session, HTM_ENABLED | HTM_RENEW);
	htm_announce(session);

	if (!session->event->attr.pinned || !(atomic_read(&session->control) & HTM_REFUSED))
		return 0;
	atomic_fetch_andnot(HTM_DISABLE, &session->control);
	return READ_ONCE(session->error);
}

/**
 * htm_session_claim_stopped() - stop the trace for good and take the claim
 * @session: the session
 *
 * Return: false if that is not possible now: the hypervisor has not stopped it
 * yet, or a new trace is being armed, or this call comes from inside another.
 */
bool htm_session_claim_stopped(struct htm_session *session)
{
	int control;

	if (atomic_read(&session->control) & HTM_RENEW)
		return false;
	control = atomic_fetch_or(HTM_DRAINING | HTM_CLAIMED, &session->control);
	if (!(control & HTM_DRAINING))
		htm_announce_later(session, HTM_TRACE_BEGIN, session->trace.size);
	if (control & HTM_CLAIMED)
		return false;
	return htm_session_settle(session, &control);
}

/* Before the session is used. */
void htm_session_init_goal(struct htm_session *session, bool paused)
{
	atomic_set(&session->control, paused ? HTM_PAUSED : 0);
	session->state = HTM_READY;
	init_irq_work(&session->kick, htm_session_kick);
	INIT_WORK(&session->work, htm_session_work);
}

/**
 * htm_session_end_goal() - nobody has wishes any more
 * @session: the session
 *
 * Return: whether the macro may be tracing.
 */
bool htm_session_end_goal(struct htm_session *session)
{
	irq_work_sync(&session->kick);
	cancel_work_sync(&session->work);
	/* A claim that nobody holds any more: START or STOP was not finished. */
	return session->state == HTM_TRACING || atomic_read(&session->control) & HTM_CLAIMED;
}

int htm_goal_init(void)
{
	htm_workqueue = alloc_workqueue("htm", WQ_UNBOUND, 0);
	return htm_workqueue ? 0 : -ENOMEM;
}

void htm_goal_exit(void)
{
	destroy_workqueue(htm_workqueue);
}
