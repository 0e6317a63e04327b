// SPDX-License-Identifier: GPL-2.0-or-later
/* Time during which a trace is wanted and not made. See htm_gaps.h. */
#include <linux/minmax.h>
#include <linux/timekeeping.h>

#include "htm_gaps.h"

/* A clock that is the same on all CPUs and can be read in an NMI. */
u64 htm_now(void)
{
	return ktime_get_mono_fast_ns();
}

/* The next START begins another trace. */
void htm_gaps_rearm(struct htm_gaps *gaps)
{
	gaps->begun = false;
}

/**
 * htm_gaps_wait() - a trace is wanted and not made
 * @gaps: the waits of the macro
 * @why: HTM_WHY_* bits; 0 if the trace may begin or go on at once
 * @since: from when on
 *
 * A wait that there is already keeps its begin and gets more reasons.
 */
void htm_gaps_wait(struct htm_gaps *gaps, int why, u64 since)
{
	atomic_or(why, &gaps->why);
	atomic64_cmpxchg(&gaps->since, 0, since);
}

bool htm_gaps_waits(const struct htm_gaps *gaps)
{
	return atomic64_read(&gaps->since);
}

static void htm_gaps_add(struct htm_gaps *gaps, int why, u64 ns)
{
	/* Who takes the reason takes the time as well. */
	atomic64_add(ns, &gaps->gap_ns);
	atomic_fetch_or(why, &gaps->gap_why);
}

/* Return: length of the wait, 0 if there was none. */
static u64 htm_gaps_end(struct htm_gaps *gaps, int *why)
{
	u64 since = atomic64_xchg(&gaps->since, 0);

	*why |= atomic_xchg(&gaps->why, 0);
	/* The clock may be a little behind that of another CPU. */
	return since ? max_t(s64, htm_now() - since, 1) : 0;
}

/**
 * htm_gaps_traced() - the macro traces; for who moves it
 * @gaps: the waits of the macro
 * @why: HTM_WHY_LATE, or 0
 *
 * A wait without a reason is the time that START itself takes, and no gap.
 */
void htm_gaps_traced(struct htm_gaps *gaps, int why)
{
	u64 ns = htm_gaps_end(gaps, &why);

	if (!gaps->begun) {
		gaps->begun = true;
		gaps->start = (struct htm_untraced){ .why = why, .ns = ns };
		/* Full barriers here and in htm_gaps_take_start(). */
		atomic_xchg(&gaps->unreported, 1);
	} else if (ns && why) {
		htm_gaps_add(gaps, why, ns);
	}
}

/**
 * htm_gaps_unwanted() - no trace is wanted any more
 * @gaps: the waits of the macro
 * @why: HTM_WHY_REFUSED, or 0
 */
void htm_gaps_unwanted(struct htm_gaps *gaps, int why)
{
	u64 ns;

	if (!htm_gaps_waits(gaps))
		return;
	ns = htm_gaps_end(gaps, &why);
	if (ns)
		htm_gaps_add(gaps, why ? why : HTM_WHY_LATE, ns);
}

/* No trace is wanted, and it is known already that none was made. */
void htm_gaps_forget(struct htm_gaps *gaps)
{
	atomic_set(&gaps->why, 0);
	atomic64_set(&gaps->since, 0);
}

bool htm_gaps_have_news(const struct htm_gaps *gaps)
{
	return atomic_read(&gaps->unreported) || atomic_read(&gaps->gap_why);
}

/**
 * htm_gaps_take_start() - has the trace begun?
 * @gaps: the waits of the macro
 * @late: receives how long after the request, and why
 */
bool htm_gaps_take_start(struct htm_gaps *gaps, struct htm_untraced *late)
{
	if (!atomic_xchg(&gaps->unreported, 0))
		return false;
	*late = gaps->start;
	return true;
}

/* What was not traced since the last time that this was asked. */
bool htm_gaps_take_gap(struct htm_gaps *gaps, struct htm_untraced *gap)
{
	gap->why = atomic_xchg(&gaps->gap_why, 0);
	gap->ns = gap->why ? atomic64_xchg(&gaps->gap_ns, 0) : 0;
	return gap->why;
}
