/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the hypervisor has refused for one macro: the latest refusal, once for an
 * announcement and once for the log. Operation and answer are one word, for they
 * are noted in any context.
 */
#ifndef HTM_REFUSAL_H
#define HTM_REFUSAL_H

#include <linux/atomic.h>

#include "htm_hcall.h"

/**
 * struct htm_refusal - an operation that the hypervisor refused
 * @op: the operation; HTM_OP_NONE: none was refused
 * @rc: the hypervisor's answer
 */
struct htm_refusal {
	enum htm_op op;
	long rc;
};

/**
 * struct htm_refusals - the latest ones of a macro, packed
 * @unannounced: shall be announced
 * @unlogged: shall be written to the log
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
