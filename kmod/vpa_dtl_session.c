// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/time64.h>
#include <asm/lppaca.h>

#include "htm_compat.h"
#include "vpa_dtl_aux.h"
#include "vpa_dtl_session.h"

/*
 * The log has only N_DISPATCH_LOG slots. So the driver looks at the log this often on
 * a busy CPU, and on an idle CPU that is not quiet, whatever the event's period. On a
 * quiet CPU the time between two looks doubles up to the period: each look wakes the
 * CPU, and the wakeup itself makes an entry.
 */
#define VPA_DTL_BUSY_NS		NSEC_PER_MSEC
#define VPA_DTL_IDLE_NS		(10 * NSEC_PER_MSEC)

/* With more entries in one look, the CPU is busy, or not quiet. */
#define VPA_DTL_BUSY_ENTRIES	(N_DISPATCH_LOG / 8)
#define VPA_DTL_QUIET_ENTRIES	2

/* Layout of an announcement, see ABI-vpa_dtl. */
#define VPA_DTL_KIND_SHIFT	56

static void vpa_dtl_session_miss(struct vpa_dtl_session *session,
				 enum vpa_dtl_announcement what, u64 count)
{
	if (!count)
		return;
	session->missing[what] += count;
	session->flags |= PERF_AUX_FLAG_PARTIAL;
}

/* Records of this event that found no room. Only this CPU writes records for the event. */
static s64 vpa_dtl_session_lost(const struct vpa_dtl_session *session)
{
	return atomic64_read(&session->event->lost_samples);
}

/* Retry an announcement that finds no room with the next AUX record that flags a loss. */
static void vpa_dtl_session_announce(struct vpa_dtl_session *session)
{
	for (u64 kind = 0; kind < VPA_DTL_ANNOUNCEMENTS; kind++) {
		s64 lost = vpa_dtl_session_lost(session);

		if (!session->missing[kind])
			continue;
		perf_report_aux_output_id(session->event,
					  kind << VPA_DTL_KIND_SHIFT | session->missing[kind]);
		if (vpa_dtl_session_lost(session) == lost)
			session->missing[kind] = 0;
	}
}

/*
 * Move entries while the area has room. One byte always stays free: the core disables
 * an event that finds its area full, and stock perf never enables the event again.
 */
static unsigned long vpa_dtl_session_move(struct vpa_dtl_session *session,
					  struct vpa_dtl_aux *aux,
					  const struct perf_output_handle *handle)
{
	const size_t slot = sizeof(struct dtl_entry);
	enum vpa_dtl_announcement why = session->no_room ? VPA_DTL_AREA_FULL : VPA_DTL_LOG_FULL;
	struct vpa_dtl_log *log = &session->log;
	unsigned long done = 0;

	while (vpa_dtl_log_look(log)) {
		struct dtl_entry entry;

		vpa_dtl_session_miss(session, why, vpa_dtl_log_skip_overwritten(log));
		if (done + (aux->has_clock ? 1 : 2) * slot >= handle->size) {
			session->no_room = true;
			return done;
		}
		if (!vpa_dtl_log_read(log, &entry))
			continue;
		if (!aux->has_clock) {
			vpa_dtl_aux_put_clock(aux, handle->head);
			done += slot;
		}
		vpa_dtl_aux_put(aux, handle->head + done, &entry);
		done += slot;
		local64_inc(&session->event->count);
	}
	session->no_room = false;
	return done;
}

/* Move the log's entries to the AUX area, and flag missing entries. */
static void vpa_dtl_session_deliver(struct vpa_dtl_session *session, bool was_taken, bool last)
{
	struct perf_output_handle handle = {};
	struct vpa_dtl_log *log = &session->log;
	struct vpa_dtl_aux *aux = perf_aux_output_begin(&handle, session->event);
	bool flagged = false;
	unsigned long done;
	s64 lost;

	if (!aux)
		return;
	done = vpa_dtl_session_move(session, aux, &handle);
	if (log->taken && !was_taken) {
		vpa_dtl_session_miss(session, VPA_DTL_TAKEN, 1);
		session->flags |= PERF_AUX_FLAG_COLLISION;
	}
	/* The log closes after the last look, so the remaining entries are lost. */
	if (last)
		vpa_dtl_session_miss(session, VPA_DTL_AREA_FULL, vpa_dtl_log_look(log));
	/* Write an empty record only if no later record can carry the flags. */
	if (session->flags && (done || last || log->taken)) {
		vpa_dtl_session_announce(session);
		perf_aux_output_flag(&handle, session->flags);
		flagged = true;
	}
	lost = vpa_dtl_session_lost(session);
	/* The reader must not see the new head before the bytes. */
	smp_wmb();
	perf_aux_output_end(&handle, done);
	if (flagged && vpa_dtl_session_lost(session) == lost)
		session->flags = 0;
}

static void vpa_dtl_session_drain(struct vpa_dtl_session *session, bool last)
{
	struct vpa_dtl_log *log = &session->log;
	bool was_taken = log->taken;

	session->found = vpa_dtl_log_look(log);
	if (session->found || session->flags || (log->taken && !was_taken))
		vpa_dtl_session_deliver(session, was_taken, last);
	/* This event will receive no more entries. */
	if (log->taken && !was_taken && !last)
		htm_event_disable_inatomic(session->event);
}

/* Do nothing within another callback, such as in an NMI or a sibling's overflow. */
static bool vpa_dtl_session_enter(struct vpa_dtl_session *session)
{
	if (in_nmi() || READ_ONCE(session->busy))
		return false;
	WRITE_ONCE(session->busy, true);
	return true;
}

static void vpa_dtl_session_leave(struct vpa_dtl_session *session)
{
	WRITE_ONCE(session->busy, false);
}

void vpa_dtl_session_look(struct vpa_dtl_session *session)
{
	if (!session->log.open || !vpa_dtl_session_enter(session))
		return;
	vpa_dtl_session_drain(session, false);
	vpa_dtl_session_leave(session);
}

static u64 vpa_dtl_session_period(const struct vpa_dtl_session *session)
{
	return max_t(u64, session->event->hw.sample_period, VPA_DTL_PERIOD_MIN_NS);
}

/* Compute the time until the next look. */
static ktime_t vpa_dtl_session_wait(struct vpa_dtl_session *session, u64 wait_ns)
{
	session->wait_ns = min(wait_ns, vpa_dtl_session_period(session));
	return ns_to_ktime(session->wait_ns);
}

static enum hrtimer_restart vpa_dtl_session_timer(struct hrtimer *timer)
{
	struct vpa_dtl_session *session = container_of(timer, struct vpa_dtl_session, timer);
	u64 wait_ns = 2 * session->wait_ns;

	vpa_dtl_session_look(session);
	if (session->log.taken)
		return HRTIMER_NORESTART;
	if (!is_idle_task(current) || session->found > VPA_DTL_BUSY_ENTRIES)
		wait_ns = VPA_DTL_BUSY_NS;
	else if (session->found > VPA_DTL_QUIET_ENTRIES)
		wait_ns = VPA_DTL_IDLE_NS;
	hrtimer_forward_now(timer, vpa_dtl_session_wait(session, wait_ns));
	return HRTIMER_RESTART;
}

/* Restart the wait for the next look with the event's present period. */
void vpa_dtl_session_set_period(struct vpa_dtl_session *session)
{
	if (session->log.open && !in_nmi())
		hrtimer_start(&session->timer, vpa_dtl_session_wait(session, VPA_DTL_BUSY_NS),
			      HRTIMER_MODE_REL_PINNED_HARD);
}

/**
 * vpa_dtl_session_open() - allocate the session and the log of an event
 * @event: the event
 * @mask: the kinds of dispatch that the event requests
 *
 * Return: the session, or the errno for the opener.
 */
struct vpa_dtl_session *vpa_dtl_session_open(struct perf_event *event, u8 mask)
{
	struct vpa_dtl_session *session = kzalloc(sizeof(*session), GFP_KERNEL);
	int err;

	if (!session)
		return ERR_PTR(-ENOMEM);
	err = vpa_dtl_log_is_used(event->cpu) ? -EBUSY : 0;
	if (!err)
		err = vpa_dtl_log_alloc(&session->log, event->cpu);
	if (err) {
		kfree(session);
		return ERR_PTR(err);
	}
	session->event = event;
	session->mask = mask;
	htm_hrtimer_setup(&session->timer, vpa_dtl_session_timer, HRTIMER_MODE_REL_PINNED_HARD);
	return session;
}

void vpa_dtl_session_close(struct vpa_dtl_session *session)
{
	vpa_dtl_log_free(&session->log);
	kfree(session);
}

/*
 * Log the dispatches that the event requests, unless it is paused. A pause that
 * arrives meanwhile in an NMI wins.
 */
static void vpa_dtl_session_log(struct vpa_dtl_session *session)
{
	bool paused;

	do {
		paused = htm_event_is_paused(session->event);
		vpa_dtl_log_set_mask(&session->log, paused ? 0 : session->mask);
		barrier();
	} while (htm_event_is_paused(session->event) != paused);
}

/*
 * Check whether the event has stayed enabled since it was last added. If so, the core
 * removed the event from its CPU for its own reasons, or the log was in use. The core
 * has just updated both times.
 */
static bool vpa_dtl_session_was_away(struct vpa_dtl_session *session)
{
	u64 off_time = session->event->tstamp - session->event->total_time_enabled;
	bool same = session->added && session->off_time == off_time;

	session->added = true;
	session->off_time = off_time;
	return same;
}

/**
 * vpa_dtl_session_add() - the core adds the event to its CPU, and starts it
 * @session: the session
 *
 * Return: 0, -EBUSY if another user has the log, -EIO if the hypervisor refuses.
 */
int vpa_dtl_session_add(struct vpa_dtl_session *session)
{
	struct vpa_dtl_log *log = &session->log;
	bool was_away = vpa_dtl_session_was_away(session);
	u32 now = vpa_dtl_log_dispatches(log);
	int err = vpa_dtl_log_open(log);

	if (!was_away)
		session->dispatches = now;
	if (err)
		return err;
	/* The counter increases twice for each dispatch, so its value may be odd. */
	vpa_dtl_session_miss(session, VPA_DTL_NOT_LOGGED,
			     DIV_ROUND_UP(now - session->dispatches, 2));
	session->no_room = false;
	vpa_dtl_session_log(session);
	vpa_dtl_session_set_period(session);
	return 0;
}

/* Deliver all entries logged until now, as far as the area has room. */
void vpa_dtl_session_remove(struct vpa_dtl_session *session)
{
	struct vpa_dtl_log *log = &session->log;

	if (!log->open)
		return;
	hrtimer_cancel(&session->timer);
	vpa_dtl_log_stop(log);
	if (vpa_dtl_session_enter(session)) {
		vpa_dtl_session_drain(session, true);
		vpa_dtl_session_leave(session);
	}
	vpa_dtl_log_close(log);
	session->dispatches = vpa_dtl_log_dispatches(log);
}

/* Only a store, so it is safe in any context. */
void vpa_dtl_session_pause(struct vpa_dtl_session *session)
{
	vpa_dtl_log_set_mask(&session->log, 0);
}

void vpa_dtl_session_resume(struct vpa_dtl_session *session)
{
	vpa_dtl_log_set_mask(&session->log, session->mask);
}
