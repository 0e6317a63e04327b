/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The times during which a trace is requested but the macro does not trace. A wait
 * begins with a request. It ends when the macro traces or the request is withdrawn.
 *
 * A wait can begin in any context, NMI included. It ends on the event's CPU or on
 * the worker's CPU. If a begin and an end coincide, the driver may report more than is
 * missing, never less: the claim's holder begins any wait that is still needed.
 */
#ifndef HTM_GAPS_H
#define HTM_GAPS_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/types.h>

/* Reasons for a late start or a gap; bits of STARTED and GAP, see ABI. */
#define HTM_WHY_LATE		BIT(0)	/* START was finished in the background */
#define HTM_WHY_THROTTLED	BIT(1)	/* the core stopped the group */
#define HTM_WHY_RINGS		BIT(2)	/* the core stopped the event to change its ring */
#define HTM_WHY_RESCHEDULED	BIT(3)	/* the core took the event off its CPU for a while */
#define HTM_WHY_REFUSED		BIT(4)	/* START was refused */

/**
 * struct htm_untraced - a time during which a requested trace did not run
 * @why: HTM_WHY_* bits; 0: nothing to report
 * @ns: length in nanoseconds
 */
struct htm_untraced {
	int why;
	u64 ns;
};

/**
 * struct htm_gaps - the waits of one macro
 * @since: begin of the present wait; 0: no wait
 * @why: HTM_WHY_* bits of the present wait
 * @begun: the trace has begun; belongs to the claim's holder
 * @unreported: the begin of the trace has not been reported
 * @start: delay of the trace's begin
 * @gap_why: HTM_WHY_* bits of the gaps since the last report
 * @gap_ns: length of these gaps in nanoseconds
 */
struct htm_gaps {
	atomic64_t since;
	atomic_t why;
	bool begun;
	atomic_t unreported;
	struct htm_untraced start;
	atomic_t gap_why;
	atomic64_t gap_ns;
};

u64 htm_now(void);

void htm_gaps_rearm(struct htm_gaps *gaps);
void htm_gaps_wait(struct htm_gaps *gaps, int why, u64 since);
void htm_gaps_traced(struct htm_gaps *gaps, int why);
void htm_gaps_unwanted(struct htm_gaps *gaps, int why);
void htm_gaps_forget(struct htm_gaps *gaps);
bool htm_gaps_waits(const struct htm_gaps *gaps);

/* Each start and each gap is reported once. */
bool htm_gaps_have_news(const struct htm_gaps *gaps);
bool htm_gaps_take_start(struct htm_gaps *gaps, struct htm_untraced *late);
bool htm_gaps_take_gap(struct htm_gaps *gaps, struct htm_untraced *gap);

#endif /* HTM_GAPS_H */
