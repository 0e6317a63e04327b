// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/err.h>
#include <linux/io.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <asm/hvcall.h>

#include "htm_compat.h"
#include "htm_session.h"

/*
 * STATUS: log2 of the trace memory is in byte 1 of the header. Anything outside
 * 4 KiB to 256 TiB is taken as "not known".
 */
#define HTM_STATUS_LENGTH	SZ_4K
#define HTM_STATUS_LOG2		1
#define HTM_SIZE_LOG2_MIN	12
#define HTM_SIZE_LOG2_MAX	48

/* Ask STATUS for the size of the trace memory. Not to know it is no failure. */
static int htm_session_ask_size(struct htm_session *session)
{
	const u8 *header = session->block;
	struct htm_request req = {
		.where = session->target->where,
		.op = HTM_OP_STATUS,
		.arg = { virt_to_phys(session->block), HTM_STATUS_LENGTH, 0 },
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

/* CONFIGURE, after what an earlier session may have left over was released. */
static int htm_session_configure(struct htm_session *session)
{
	struct htm_target *target = session->target;
	enum htm_op op = HTM_OP_DECONFIGURE;
	long rc = H_SUCCESS;
	int err = 0;

	if (target->configured)
		err = htm_target_deconfigure(target, true, &rc);
	if (!err) {
		op = HTM_OP_CONFIGURE;
		err = htm_target_configure(target, true, &rc);
	}
	if (err && err != -EINTR)
		htm_log_refusal(&target->where, op, rc);
	return err;
}

/**
 * htm_session_open() - reserve and configure a trace macro for an event
 * @event: the event
 * @where: the macro
 * @wrap: go on at the start of the trace memory when it is full
 *
 * Return: the session, or the errno for the opener.
 */
struct htm_session *htm_session_open(struct perf_event *event, const struct htm_where *where,
				     bool wrap)
{
	struct htm_session *session = kzalloc(sizeof(*session), GFP_KERNEL);
	int err = -ENOMEM;

	if (!session)
		return ERR_PTR(-ENOMEM);
	session->event = event;
	htm_session_init_goal(session, htm_attr_starts_paused(&event->attr));
	htm_trace_reset(session);
	htm_map_reset(session);

	session->block = kzalloc(HTM_BLOCK_ALLOC, GFP_KERNEL);
	if (!session->block)
		goto free_session;
	session->target = htm_target_reserve(where);
	if (IS_ERR(session->target)) {
		err = PTR_ERR(session->target);
		goto free_block;
	}
	session->target->wrap = wrap;

	err = htm_session_ask_size(session);
	if (!err)
		err = htm_session_configure(session);
	if (!err)
		return session;

	htm_target_release(session->target);
free_block:
	kfree(session->block);
free_session:
	kfree(session);
	return ERR_PTR(err);
}

/* The event is gone: leave nothing configured. */
void htm_session_close(struct htm_session *session)
{
	struct htm_target *target = session->target;
	struct htm_request stop = { .where = target->where, .op = HTM_OP_STOP };
	long rc;

	if (htm_session_end_goal(session))
		htm_hcall_sleep(&stop, false, &rc);
	if (target->configured && htm_target_deconfigure(target, false, &rc))
		htm_log_refusal(&target->where, HTM_OP_DECONFIGURE, rc);

	htm_target_release(target);
	kfree(session->block);
	kfree(session);
}
