// SPDX-License-Identifier: GPL-2.0-or-later
/* The hypervisor's latest refusal for one macro. See htm_refusal.h. */
#include "htm_refusal.h"

static u64 htm_refusal_pack(enum htm_op op, long rc)
{
	return (u64)op << 32 | (u32)rc;
}

/* Return: false if @packed has no refusal. */
static bool htm_refusal_unpack(u64 packed, struct htm_refusal *refusal)
{
	refusal->op = packed >> 32;
	refusal->rc = (s32)packed;
	return refusal->op;
}

void htm_refusals_announce(struct htm_refusals *refusals, enum htm_op op, long rc)
{
	atomic64_set(&refusals->unannounced, htm_refusal_pack(op, rc));
}

void htm_refusals_log(struct htm_refusals *refusals, enum htm_op op, long rc)
{
	atomic64_set(&refusals->unlogged, htm_refusal_pack(op, rc));
}

bool htm_refusals_have_news(const struct htm_refusals *refusals)
{
	return atomic64_read(&refusals->unannounced);
}

bool htm_refusals_take(struct htm_refusals *refusals, struct htm_refusal *refusal)
{
	return htm_refusal_unpack(atomic64_xchg(&refusals->unannounced, 0), refusal);
}

/* Call this in process context, without a scheduler lock. */
void htm_refusals_write_log(struct htm_refusals *refusals, const struct htm_where *where)
{
	struct htm_refusal refusal;

	if (htm_refusal_unpack(atomic64_xchg(&refusals->unlogged, 0), &refusal))
		htm_log_refusal(where, refusal.op, refusal.rc);
}
