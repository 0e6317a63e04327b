/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time during which a trace is wanted and not made. A wait begins with a request
 * and ends when the macro traces, or when no trace is wanted any more.
 *
 * Waits begin in any context, NMI included, and end on the event's CPU or on the
 * worker's. When two of these cross, more may be reported than was missing, never
 * less: the one who moves the macro begins a wait that should be there and is not.
 */
#ifndef HTM_GAPS_H
#define HTM_GAPS_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/types.h>

/* Why a trace began late or has a gap; bits of STARTED and GAP, see ABI. */
#define HTM_WHY_LATE		BIT(0)	/* START was finished in the background */
#define HTM_WHY_THROTTLED	BIT(1)	/* the core stopped the group */
#define HTM_WHY_RINGS		BIT(2)	/* the core stopped the event to change its ring */
#define HTM_WHY_RESCHEDULED	BIT(3)	/* the core took the event off its CPU for a while */
#define HTM_WHY_REFUSED		BIT(4)	/* START was refused */

/**
 * struct htm_untraced - time during which a trace was wanted and not made
 * @why: HTM_WHY_* bits; 0: nothing to report
 * @ns: how long
 */
struct htm_untraced {
	int why;
	u64 ns;
};

/**
 * struct htm_gaps - the waits of one macro
 * @since: begin of the present wait, 0 if there is none
 * @why: HTM_WHY_* bits of it
 * @begun: the trace has begun; belongs to who moves the macro
 * @unreported: the begin has not been reported
 * @start: how late the trace began
 * @gap_why: HTM_WHY_* bits of the gaps since the last report
 * @gap_ns: their length
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

/* What there is to report, each once. */
bool htm_gaps_have_news(const struct htm_gaps *gaps);
bool htm_gaps_take_start(struct htm_gaps *gaps, struct htm_untraced *late);
bool htm_gaps_take_gap(struct htm_gaps *gaps, struct htm_untraced *gap);

#endif /* HTM_GAPS_H */
