// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What one read(2) does: take a step of the trace, then of the memory map, and
 * announce where each begins and ends.
 */
#include <linux/atomic.h>
#include <linux/minmax.h>
#include <linux/sched/clock.h>
#include <linux/time64.h>

#include "htm_session.h"

/* Values of read(2), see ABI: as the latest public htm driver counts. */
#define HTM_VALUE_END		0
#define HTM_VALUE_AGAIN		1
#define HTM_TRACE_UNIT		128
#define HTM_MAP_UNIT		32

/* Layout of an announcement, see ABI. */
#define HTM_ANNOUNCE_KIND_SHIFT		56
#define HTM_ANNOUNCE_OP_SHIFT		48
#define HTM_ANNOUNCE_ERRNO_SHIFT	32

/* A long-busy hint is honoured up to here; readers give up after seconds. */
#define HTM_BUSY_MAX_MS		100

/**
 * htm_announce_later() - have an announcement made at the next opportunity
 * @session: the session
 * @kind: of the announcement
 * @value: in its lower bits
 */
void htm_announce_later(struct htm_session *session, enum htm_announcement kind, u64 value)
{
	WRITE_ONCE(session->announcement[kind], value);
	/* The value is there before the bit is. */
	atomic_fetch_or(BIT(kind), &session->pending);
}

void htm_announce_error(struct htm_session *session, enum htm_op op, int err, long rc)
{
	htm_announce_later(session, HTM_ERROR,
			   (u64)op << HTM_ANNOUNCE_OP_SHIFT |
			   (u64)-err << HTM_ANNOUNCE_ERRNO_SHIFT | (u32)rc);
}

bool htm_is_announcing(const struct htm_session *session)
{
	return atomic_read(&session->pending);
}

/*
 * Put one announcement into the data ring. A record that finds no room is
 * counted by the core in the event itself, and only this CPU writes for it.
 */
static bool htm_announcement_put(struct perf_event *event, u64 hw_id)
{
	s64 lost = atomic64_read(&event->lost_samples);

	if (!READ_ONCE(event->rb))
		return false;
	perf_report_aux_output_id(event, hw_id);
	return atomic64_read(&event->lost_samples) == lost;
}

/**
 * htm_announce() - put pending announcements into the data ring
 * @session: the session
 *
 * Runs on the event's CPU with interrupts off.
 *
 * Return: true if nothing is pending any more.
 */
bool htm_announce(struct htm_session *session)
{
	static const enum htm_announcement order[] = {
		HTM_TRACE_BEGIN, HTM_ERROR, HTM_TRACE_END, HTM_MAP_BEGIN, HTM_MAP_END,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(order); i++) {
		enum htm_announcement kind = order[i];
		int bit = BIT(kind);
		u64 value;

		if (!(atomic_fetch_andnot(bit, &session->pending) & bit))
			continue;
		value = READ_ONCE(session->announcement[kind]);
		if (!htm_announcement_put(session->event,
					  (u64)kind << HTM_ANNOUNCE_KIND_SHIFT | value)) {
			atomic_or(bit, &session->pending);
			return false;
		}
	}
	return true;
}

/* Dumps are not repeated earlier than the hypervisor asked for. */
bool htm_dump_is_due(const struct htm_session *session)
{
	return local_clock() >= session->retry_at;
}

void htm_dump_was_busy(struct htm_session *session, long rc)
{
	session->retry_at = local_clock() +
			    min(htm_busy_msecs(rc), HTM_BUSY_MAX_MS) * NSEC_PER_MSEC;
}

/* One step, holding the claim. */
static u64 htm_drain_step(struct htm_session *session)
{
	long bytes;

	if (!htm_announce(session))
		return HTM_VALUE_AGAIN;

	/* Without an AUX area the trace stays where it is; the map need not. */
	if (!session->trace.over && session->aux_mapped) {
		bytes = htm_trace_drain(session);
		if (bytes)
			return bytes > 0 ? bytes / HTM_TRACE_UNIT : HTM_VALUE_AGAIN;
		session->trace.over = true;
		htm_announce_later(session, HTM_TRACE_END, session->trace.offset);
	}

	if (!session->map.over) {
		if (!session->map.begun)
			htm_announce_later(session, HTM_MAP_BEGIN, 0);
		session->map.begun = true;
		if (!htm_announce(session))
			return HTM_VALUE_AGAIN;
		bytes = htm_map_drain(session);
		if (bytes)
			return bytes > 0 ? bytes / HTM_MAP_UNIT : HTM_VALUE_AGAIN;
		session->map.over = true;
		htm_announce_later(session, HTM_MAP_END, session->map.bytes);
	}
	return htm_announce(session) ? HTM_VALUE_END : HTM_VALUE_AGAIN;
}

/**
 * htm_drain() - what a read of the event does
 * @session: the session
 *
 * Runs on the event's CPU with interrupts off.
 *
 * Return: the value for user space.
 */
u64 htm_drain(struct htm_session *session)
{
	u64 value;

	/* Nowhere to put anything: do not even stop the trace. */
	if (!READ_ONCE(session->event->rb))
		return HTM_VALUE_END;
	if (!htm_session_claim_stopped(session))
		return HTM_VALUE_AGAIN;

	value = htm_drain_step(session);
	htm_session_release(session);
	return value;
}
