// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/err.h>
#include <linux/io.h>
#include <linux/preempt.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <asm/hvcall.h>

#include "htm_block.h"
#include "htm_compat.h"
#include "htm_session.h"

/*
 * STATUS: byte 1 of the header holds the base-2 logarithm of the trace memory's size.
 * A size outside 4 KiB to 256 TiB counts as unknown.
 */
#define HTM_STATUS_LENGTH	SZ_4K
#define HTM_STATUS_LOG2		1
#define HTM_SIZE_LOG2_MIN	12
#define HTM_SIZE_LOG2_MAX	48

/* Values of read(2), see ABI. They equal those of the latest public htm driver. */
#define HTM_VALUE_END		0
#define HTM_VALUE_AGAIN		1
#define HTM_TRACE_UNIT		128
#define HTM_MAP_UNIT		32

/* Ask STATUS for the size of the trace memory. An unknown size is no failure. */
static int htm_session_ask_size(struct htm_session *session)
{
	const u8 *header = session->map.block;
	struct htm_request req = {
		.where = session->macro.target->where,
		.op = HTM_OP_STATUS,
		.arg = { virt_to_phys(session->map.block), HTM_STATUS_LENGTH, 0 },
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

/* CONFIGURE the macro, after a DECONFIGURE if an earlier session left it configured. */
static int htm_session_configure(struct htm_target *target)
{
	enum htm_op op = HTM_OP_DECONFIGURE;
	long rc = H_SUCCESS;
	int err = 0;

	if (target->configured)
		err = htm_target_deconfigure(target, true, &rc);
	if (!err) {
		op = HTM_OP_CONFIGURE;
		err = htm_target_configure(target, true, &rc);
	}
	if (err && err != -EINTR && err != -ESHUTDOWN)
		htm_log_refusal(&target->where, op, rc);
	return err;
}

/*
 * Called on the event's CPU with interrupts off. Returns false within another
 * callback, for example in an NMI or in a probe.
 */
static bool htm_session_enter(struct htm_session *session)
{
	if (in_nmi() || READ_ONCE(session->busy))
		return false;
	WRITE_ONCE(session->busy, true);
	return true;
}

static void htm_session_leave(struct htm_session *session)
{
	WRITE_ONCE(session->busy, false);
}

static void htm_session_announce(struct htm_session *session)
{
	if (!htm_session_enter(session))
		return;
	htm_announce(&session->announcer, &session->macro);
	htm_session_leave(session);
}

/* The worker is done: announce, and disable the event if START was refused. */
static void htm_session_report_here(void *data)
{
	struct htm_session *session = data;

	htm_session_announce(session);
	/* A later enable has cancelled the request to disable. */
	if (htm_macro_take_disable(&session->macro) &&
	    session->event->state == PERF_EVENT_STATE_ACTIVE)
		htm_event_disable_inatomic(session->event);
}

/* An offline CPU has no event to report for. */
static void htm_session_report(void *data)
{
	struct htm_session *session = data;

	smp_call_function_single(session->event->cpu, htm_session_report_here, session, true);
}

/**
 * htm_session_open() - reserve and configure a trace macro for an event
 * @event: the event
 * @where: the macro
 * @wrap: continue at the start of the trace memory when it is full
 *
 * Return: the session, or the errno for the opener.
 */
struct htm_session *htm_session_open(struct perf_event *event, const struct htm_where *where,
				     bool wrap)
{
	struct htm_session *session = kzalloc(sizeof(*session), GFP_KERNEL);
	struct htm_target *target;
	int err = -ENOMEM;

	if (!session)
		return ERR_PTR(-ENOMEM);
	session->event = event;
	session->announcer.event = event;
	session->map.block = kzalloc(HTM_BLOCK_ALLOC, GFP_KERNEL);
	if (!session->map.block)
		goto free_session;
	htm_trace_reset(&session->trace);
	htm_map_reset(&session->map, event);

	target = htm_target_reserve(where);
	if (IS_ERR(target)) {
		err = PTR_ERR(target);
		goto free_block;
	}
	target->wrap = wrap;
	htm_macro_open(&session->macro, target, htm_attr_starts_paused(&event->attr),
		       htm_session_report, session);

	err = htm_session_ask_size(session);
	if (!err)
		err = htm_session_configure(target);
	if (!err)
		return session;

	htm_target_release(target);
free_block:
	kfree(session->map.block);
free_session:
	kfree(session);
	return ERR_PTR(err);
}

/* The event is closed: leave no macro configured. */
void htm_session_close(struct htm_session *session)
{
	htm_macro_close(&session->macro);
	htm_target_release(session->macro.target);
	kfree(session->map.block);
	kfree(session);
}

/*
 * Return true if the event was enabled all the time since it was last added. Then
 * the core, not the user, removed the event from its CPU meanwhile. The core has
 * just updated both times.
 */
static bool htm_session_was_rescheduled(struct htm_session *session)
{
	u64 off_time = session->event->tstamp - session->event->total_time_enabled;
	bool same = session->added && session->off_time == off_time;

	session->added = true;
	session->off_time = off_time;
	return same;
}

/* Everything was delivered: arm a new trace. */
static void htm_session_rearm(struct htm_session *session)
{
	if (!session->trace.over || !session->map.over || session->announcer.pending)
		return;
	htm_macro_rearm(&session->macro);
	htm_trace_reset(&session->trace);
	htm_map_reset(&session->map, session->event);
	session->draining = false;
}

/**
 * htm_session_add() - the core adds the event to its CPU, and starts it
 * @session: the session
 *
 * Return: 0, or the errno of a refused START if the event is pinned: the core then
 * moves the event to the error state. For other events, an errno would make the core
 * retry at each tick, so the driver disables the event and returns 0.
 */
int htm_session_add(struct htm_session *session)
{
	bool rescheduled = htm_session_was_rescheduled(session);
	int err;

	if (!rescheduled && session->draining)
		htm_session_rearm(session);
	if (rescheduled)
		err = htm_macro_enable(&session->macro, HTM_WHY_RESCHEDULED, session->removed_at);
	else
		err = htm_macro_enable(&session->macro, 0, htm_now());
	htm_session_announce(session);

	if (err && session->event->attr.pinned) {
		htm_macro_fail(&session->macro);
		return err;
	}
	if (err && htm_macro_take_disable(&session->macro))
		htm_event_disable_inatomic(session->event);
	return 0;
}

void htm_session_remove(struct htm_session *session)
{
	session->removed_at = htm_now();
	htm_macro_disable(&session->macro);
	htm_session_announce(session);
}

/**
 * htm_session_interrupt() - the core stops an event that it has added
 * @session: the session
 * @why: HTM_WHY_* of the stop
 */
void htm_session_interrupt(struct htm_session *session, int why)
{
	htm_macro_interrupt(&session->macro, why);
	htm_session_announce(session);
}

void htm_session_continue(struct htm_session *session)
{
	htm_macro_continue(&session->macro);
	htm_session_announce(session);
}

/* One step of the trace. Return: false if the memory map may follow. */
static bool htm_session_read_trace(struct htm_session *session, u64 *value)
{
	long bytes;

	if (session->trace.over)
		return false;
	bytes = htm_trace_drain(&session->trace, &session->macro, &session->announcer);
	/* Without an AUX area the trace stays in the macro, but the map can be moved. */
	if (bytes == -ENXIO)
		return false;
	*value = bytes > 0 ? bytes / HTM_TRACE_UNIT : HTM_VALUE_AGAIN;
	if (bytes)
		return true;
	session->trace.over = true;
	htm_announce_later(&session->announcer, HTM_TRACE_END, session->trace.offset);
	return false;
}

/* One step of the memory map. Return: false at the end of the map. */
static bool htm_session_read_map(struct htm_session *session, u64 *value)
{
	struct htm_map *map = &session->map;
	long bytes;

	if (map->over)
		return false;
	*value = HTM_VALUE_AGAIN;
	if (!map->begun)
		htm_announce_later(&session->announcer, HTM_MAP_BEGIN, 0);
	map->begun = true;
	if (!htm_announce(&session->announcer, &session->macro))
		return true;
	bytes = htm_map_drain(map, &session->macro, &session->announcer);
	if (bytes > 0)
		*value = bytes / HTM_MAP_UNIT;
	if (bytes)
		return true;
	map->over = true;
	htm_announce_later(&session->announcer, HTM_MAP_END, map->bytes);
	return false;
}

/* The partition has moved: the trace remains on the old machine. */
static void htm_session_lose(struct htm_session *session)
{
	session->trace.end = true;
	session->map.end = true;
	session->lost = true;
	session->announcer.partial = true;
	htm_announce_error(&session->announcer, HTM_OP_NONE, -ESTALE, H_SUCCESS);
}

/* One drain step of a macro that is stopped for good. */
static u64 htm_session_step(struct htm_session *session)
{
	u64 value;

	if (htm_target_is_lost(session->macro.target) && !session->lost)
		htm_session_lose(session);

	if (!htm_announce(&session->announcer, &session->macro))
		return HTM_VALUE_AGAIN;
	if (htm_session_read_trace(session, &value) || htm_session_read_map(session, &value))
		return value;
	return htm_announce(&session->announcer, &session->macro) ? HTM_VALUE_END :
								    HTM_VALUE_AGAIN;
}

/**
 * htm_session_read() - stop the trace, and move a part of trace or memory map
 * @session: the session
 * @value: receives the value for user space
 *
 * Return: false if this read interrupts another callback.
 */
bool htm_session_read(struct htm_session *session, u64 *value)
{
	if (!htm_session_enter(session))
		return false;
	*value = HTM_VALUE_AGAIN;
	if (!READ_ONCE(session->event->rb)) {
		/* Without a data ring, the read does not even stop the trace. */
		*value = HTM_VALUE_END;
	} else {
		if (!session->draining)
			htm_announce_later(&session->announcer, HTM_TRACE_BEGIN,
					   session->trace.size);
		session->draining = true;
		if (htm_macro_finish(&session->macro))
			*value = htm_session_step(session);
	}
	htm_session_leave(session);
	return true;
}
