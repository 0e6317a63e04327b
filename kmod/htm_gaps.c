// SPDX-License-Identifier: GPL-2.0-or-later
/* The times during which a requested trace does not run. See htm_gaps.h. */
#include <linux/minmax.h>
#include <linux/timekeeping.h>

#include "htm_gaps.h"

/* This clock is the same on all CPUs, and an NMI can read it. */
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
 * htm_gaps_wait() - begin a wait: a trace is requested, the macro does not trace
 * @gaps: the waits of the macro
 * @why: HTM_WHY_* bits; 0 if the trace may begin or continue at once
 * @since: begin of the wait
 *
 * A present wait keeps its begin and adds the reasons.
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
	/* Time before reason: a reader of the reason also reads the time. */
	atomic64_add(ns, &gaps->gap_ns);
	atomic_fetch_or(why, &gaps->gap_why);
}

/* Return: length of the wait in nanoseconds; 0 if no wait has begun. */
static u64 htm_gaps_end(struct htm_gaps *gaps, int *why)
{
	u64 since = atomic64_xchg(&gaps->since, 0);

	*why |= atomic_xchg(&gaps->why, 0);
	/* This CPU's clock may lag the clock that read @since. */
	return since ? max_t(s64, htm_now() - since, 1) : 0;
}

/**
 * htm_gaps_traced() - the macro traces: end the wait
 * @gaps: the waits of the macro
 * @why: HTM_WHY_LATE, or 0
 *
 * Only the claim's holder may call this. A wait without a reason is the duration of
 * START itself, not a gap.
 */
void htm_gaps_traced(struct htm_gaps *gaps, int why)
{
	u64 ns = htm_gaps_end(gaps, &why);

	if (!gaps->begun) {
		gaps->begun = true;
		gaps->start = (struct htm_untraced){ .why = why, .ns = ns };
		/* A full barrier, which pairs with the one in htm_gaps_take_start(). */
		atomic_xchg(&gaps->unreported, 1);
	} else if (ns && why) {
		htm_gaps_add(gaps, why, ns);
	}
}

/**
 * htm_gaps_unwanted() - the request for a trace was withdrawn: end the wait
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

/* The request was withdrawn, and the caller has already reported the refused START. */
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
 * htm_gaps_take_start() - read the trace's begin, once
 * @gaps: the waits of the macro
 * @late: receives the delay after the request, and its reasons
 *
 * Return: true if the trace has begun and the begin was not read yet.
 */
bool htm_gaps_take_start(struct htm_gaps *gaps, struct htm_untraced *late)
{
	if (!atomic_xchg(&gaps->unreported, 0))
		return false;
	*late = gaps->start;
	return true;
}

/* Read the gaps since the last call. Return: false if no gap was added. */
bool htm_gaps_take_gap(struct htm_gaps *gaps, struct htm_untraced *gap)
{
	gap->why = atomic_xchg(&gaps->gap_why, 0);
	gap->ns = gap->why ? atomic64_xchg(&gaps->gap_ns, 0) : 0;
	return gap->why;
}
