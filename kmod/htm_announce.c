// SPDX-License-Identifier: GPL-2.0-or-later
/* Announcements of the driver in the data ring. See htm_announce.h. */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/minmax.h>

#include "htm_announce.h"

/* Layout of an announcement, see ABI. */
#define HTM_ANNOUNCE_KIND_SHIFT		56
#define HTM_ANNOUNCE_OP_SHIFT		48
#define HTM_ANNOUNCE_ERRNO_SHIFT	32
#define HTM_ANNOUNCE_WHY_SHIFT		48
#define HTM_ANNOUNCE_NS_MASK		GENMASK_ULL(47, 0)

/* Request an announcement at the next opportunity. */
void htm_announce_later(struct htm_announcer *announcer, enum htm_announcement kind, u64 value)
{
	announcer->value[kind] = value;
	announcer->pending |= BIT(kind);
}

void htm_announce_error(struct htm_announcer *announcer, enum htm_op op, int err, long rc)
{
	htm_announce_later(announcer, HTM_ERROR,
			   (u64)op << HTM_ANNOUNCE_OP_SHIFT |
			   (u64)-err << HTM_ANNOUNCE_ERRNO_SHIFT | (u32)rc);
}

static u64 htm_announce_time(int why, u64 ns)
{
	return (u64)why << HTM_ANNOUNCE_WHY_SHIFT | min(ns, HTM_ANNOUNCE_NS_MASK);
}

/* Extend a gap that is not announced yet. */
static void htm_announce_gap(struct htm_announcer *announcer, struct htm_untraced gap)
{
	u64 before = announcer->pending & BIT(HTM_GAP) ? announcer->value[HTM_GAP] : 0;

	htm_announce_later(announcer, HTM_GAP,
			   htm_announce_time(gap.why | before >> HTM_ANNOUNCE_WHY_SHIFT,
					     gap.ns + (before & HTM_ANNOUNCE_NS_MASK)));
	announcer->partial = true;
}

/* Turn the macro's news into pending announcements. */
static void htm_announce_collect(struct htm_announcer *announcer, struct htm_macro *macro)
{
	struct htm_refusal refusal;
	struct htm_untraced time;

	if (htm_gaps_take_start(&macro->gaps, &time)) {
		htm_announce_later(announcer, HTM_STARTED, htm_announce_time(time.why, time.ns));
		if (time.why)
			announcer->partial = true;
	}
	if (htm_gaps_take_gap(&macro->gaps, &time))
		htm_announce_gap(announcer, time);
	if (htm_refusals_take(&macro->refusals, &refusal))
		htm_announce_error(announcer, refusal.op, htm_errno(refusal.rc), refusal.rc);
}

/**
 * htm_announce_lost() - number of this event's records that found no room
 * @event: the event
 *
 * The core counts these records in the event, and only this CPU writes for the event.
 */
s64 htm_announce_lost(struct perf_event *event)
{
	return atomic64_read(&event->lost_samples);
}

static bool htm_announcement_put(struct perf_event *event, u64 hw_id)
{
	s64 lost = htm_announce_lost(event);

	if (!READ_ONCE(event->rb))
		return false;
	perf_report_aux_output_id(event, hw_id);
	return htm_announce_lost(event) == lost;
}

/**
 * htm_announce() - put pending announcements into the data ring
 * @announcer: the announcements
 * @macro: the macro, which may have news to announce
 *
 * Return: true if no announcement is pending.
 */
bool htm_announce(struct htm_announcer *announcer, struct htm_macro *macro)
{
	static const enum htm_announcement order[] = {
		HTM_STARTED, HTM_TRACE_BEGIN, HTM_GAP, HTM_ERROR, HTM_TRACE_END, HTM_MAP_BEGIN,
		HTM_MAP_END,
	};

	htm_announce_collect(announcer, macro);
	for (unsigned int i = 0; i < ARRAY_SIZE(order); i++) {
		enum htm_announcement kind = order[i];

		if (!(announcer->pending & BIT(kind)))
			continue;
		if (!htm_announcement_put(announcer->event, (u64)kind << HTM_ANNOUNCE_KIND_SHIFT |
					  announcer->value[kind]))
			return false;
		announcer->pending &= ~BIT(kind);
	}
	return true;
}
