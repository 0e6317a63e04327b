/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hypervisor's latest refusal for one macro: one copy for an announcement, one
 * for the log. A copy packs the operation and the answer into one atomic word,
 * because the driver notes refusals in any context.
 */
#ifndef HTM_REFUSAL_H
#define HTM_REFUSAL_H

#include <linux/atomic.h>

#include "htm_hcall.h"

/**
 * struct htm_refusal - an operation that the hypervisor refused
 * @op: the operation; HTM_OP_NONE: no refusal
 * @rc: the hypervisor's answer
 */
struct htm_refusal {
	enum htm_op op;
	long rc;
};

/**
 * struct htm_refusals - the latest refusals of a macro, packed
 * @unannounced: the refusal to announce
 * @unlogged: the refusal to write to the log
 */
struct htm_refusals {
	atomic64_t unannounced;
	atomic64_t unlogged;
};

void htm_refusals_announce(struct htm_refusals *refusals, enum htm_op op, long rc);
void htm_refusals_log(struct htm_refusals *refusals, enum htm_op op, long rc);
bool htm_refusals_have_news(const struct htm_refusals *refusals);
bool htm_refusals_take(struct htm_refusals *refusals, struct htm_refusal *refusal);
void htm_refusals_write_log(struct htm_refusals *refusals, const struct htm_where *where);

#endif /* HTM_REFUSAL_H */
