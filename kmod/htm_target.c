// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The owner of each trace macro. A macro has one owner in the whole machine, so the
 * driver refuses a second open of the same macro. If the driver cannot release a
 * macro, it keeps the target and tries again later.
 */
#include <linux/cleanup.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#ifdef HTM_IN_TREE
#include <asm/htm-claim.h>
#endif
#include <asm/hvcall.h>

#include "htm_target.h"

/* After a kernel crash, the driver waits at most this many milliseconds in total. */
#define HTM_CRASH_TRIES		100

#ifdef HTM_IN_TREE
/* Keep htmdump and this driver from using the same macro. */
static int htm_target_claim(const struct htm_where *where)
{
	return htm_claim(where->type, where->node, where->chip, where->core,
			 HTM_CLAIMANT_PMU);
}

static void htm_target_unclaim(const struct htm_where *where)
{
	htm_unclaim(where->type, where->node, where->chip, where->core, HTM_CLAIMANT_PMU);
}

#else
/* A kernel for which this driver is a module has no claims. */
static int htm_target_claim(const struct htm_where *where)
{
	return 0;
}

static void htm_target_unclaim(const struct htm_where *where)
{
}

#endif
static LIST_HEAD(htm_targets);
static DEFINE_MUTEX(htm_targets_lock);
/* The machine shuts down: do not configure another macro. */
static bool htm_targets_closed;

bool htm_target_is_lost(const struct htm_target *target)
{
	return READ_ONCE(target->lost);
}

static bool htm_where_equal(const struct htm_where *a, const struct htm_where *b)
{
	return a->type == b->type && a->node == b->node && a->chip == b->chip &&
	       a->core == b->core;
}

/**
 * htm_target_reserve() - reserve a trace macro for an event
 * @where: the macro
 *
 * Return: the target, -EBUSY if an event owns it, -ESHUTDOWN if the machine shuts
 * down, or -ENOMEM.
 */
struct htm_target *htm_target_reserve(const struct htm_where *where)
{
	struct htm_target *target;
	int err;

	guard(mutex)(&htm_targets_lock);
	if (htm_targets_closed)
		return ERR_PTR(-ESHUTDOWN);
	list_for_each_entry(target, &htm_targets, entry) {
		if (!htm_where_equal(&target->where, where))
			continue;
		if (target->in_use)
			return ERR_PTR(-EBUSY);
		/* An earlier DECONFIGURE failed and left this target over. */
		target->in_use = true;
		return target;
	}

	target = kzalloc(sizeof(*target), GFP_KERNEL);
	if (!target)
		return ERR_PTR(-ENOMEM);
	err = htm_target_claim(where);
	if (err < 0) {
		kfree(target);
		return ERR_PTR(err);
	}
	target->where = *where;
	target->in_use = true;
	mutex_init(&target->lock);
	list_add(&target->entry, &htm_targets);
	return target;
}

/* End an event's use of the target. The list keeps a target whose macro is configured. */
void htm_target_release(struct htm_target *target)
{
	guard(mutex)(&htm_targets_lock);
	target->in_use = false;
	if (target->configured)
		return;
	list_del(&target->entry);
	htm_target_unclaim(&target->where);
	kfree(target);
}

/**
 * htm_target_configure() - CONFIGURE for one trace
 * @target: a reserved target
 * @killable: a fatal signal ends the wait for a busy hypervisor
 * @rc: receives the hypervisor's answer
 *
 * Mask and value of the mode register are all ones: the platform's default.
 *
 * Return: 0 or an errno. -ESHUTDOWN and -ESTALE are from the driver, with @rc H_SUCCESS.
 */
int htm_target_configure(struct htm_target *target, bool killable, long *rc)
{
	struct htm_request req = {
		.where = target->where,
		.op = HTM_OP_CONFIGURE,
		.flags = target->wrap ? 0 : HTM_FLAG_NOWRAP,
		.arg = { ~0ULL, ~0ULL, 0 },
	};
	int err;

	guard(mutex)(&target->lock);
	*rc = H_SUCCESS;
	if (READ_ONCE(htm_targets_closed))
		return -ESHUTDOWN;
	if (htm_target_is_lost(target))
		return -ESTALE;
	err = htm_hcall_sleep(&req, killable, rc);
	if (!err)
		target->configured = true;
	return err;
}

/**
 * htm_target_deconfigure() - DECONFIGURE a macro after htm_target_configure()
 * @target: a target whose macro is configured
 * @killable: a fatal signal ends the wait for a busy hypervisor
 * @rc: receives the hypervisor's answer
 *
 * A refusal may mean that the macro still traces: STOP the macro and try again.
 * If the second answer is H_STATE or H_NOT_AVAILABLE, the macro is not configured.
 *
 * Return: 0 if the macro is no longer configured, or an errno.
 */
int htm_target_deconfigure(struct htm_target *target, bool killable, long *rc)
{
	struct htm_request stop = { .where = target->where, .op = HTM_OP_STOP };
	struct htm_request req = { .where = target->where, .op = HTM_OP_DECONFIGURE };
	int err;

	guard(mutex)(&target->lock);
	*rc = H_SUCCESS;
	if (htm_target_is_lost(target))
		target->configured = false;
	/* Another caller may have released the macro. */
	if (!target->configured)
		return 0;
	err = htm_hcall_sleep(&req, killable, rc);
	if (err && !htm_is_busy(*rc) && !htm_target_is_lost(target)) {
		htm_hcall_sleep(&stop, killable, rc);
		err = htm_hcall_sleep(&req, killable, rc);
		if (*rc == H_STATE || *rc == H_NOT_AVAILABLE)
			err = 0;
	}
	if (!err)
		target->configured = false;
	return err;
}

#ifndef HTM_IN_TREE
/* Make a last attempt to release leftover macros. No event is open now. */
void htm_target_forget_all(void)
{
	struct htm_target *target, *next;
	long rc;

	list_for_each_entry_safe(target, next, &htm_targets, entry) {
		if (htm_target_deconfigure(target, false, &rc))
			htm_log_refusal(&target->where, HTM_OP_DECONFIGURE, rc);
		list_del(&target->entry);
		kfree(target);
	}
}
#endif

/* The machine shuts down: release every macro, and do not configure another. */
void htm_target_release_all(void)
{
	struct htm_target *target;
	long rc;

	guard(mutex)(&htm_targets_lock);
	WRITE_ONCE(htm_targets_closed, true);
	list_for_each_entry(target, &htm_targets, entry) {
		if (htm_target_deconfigure(target, false, &rc))
			htm_log_refusal(&target->where, HTM_OP_DECONFIGURE, rc);
		else
			WRITE_ONCE(target->lost, true);
	}
}

static void htm_target_abandon(const struct htm_target *target, enum htm_op op, int *tries)
{
	struct htm_request req = { .where = target->where, .op = op };

	while (htm_is_busy(htm_hcall_atomic(&req)) && (*tries)-- > 0)
		mdelay(1);
}

/*
 * The kernel has crashed: release every macro without locks and without a long
 * wait. The other CPUs are stopped, possibly while one of them changed the list.
 * Each step of a change leaves the list valid for forward traversal.
 */
void htm_target_abandon_all(void)
{
	struct htm_target *target;
	int tries = HTM_CRASH_TRIES;

	WRITE_ONCE(htm_targets_closed, true);
	list_for_each_entry(target, &htm_targets, entry) {
		if (!target->configured || htm_target_is_lost(target))
			continue;
		htm_target_abandon(target, HTM_OP_STOP, &tries);
		htm_target_abandon(target, HTM_OP_DECONFIGURE, &tries);
	}
}

/*
 * The partition has moved to another machine: issue no operation for an open event's
 * macro, and forget leftover macros.
 */
void htm_target_lose_all(void)
{
	struct htm_target *target, *next;

	guard(mutex)(&htm_targets_lock);
	list_for_each_entry_safe(target, next, &htm_targets, entry) {
		WRITE_ONCE(target->lost, true);
		if (target->in_use)
			continue;
		list_del(&target->entry);
		htm_target_unclaim(&target->where);
		kfree(target);
	}
}

/**
 * htm_target_example() - a trace macro of a type, for a request about all of them
 * @type: the type
 *
 * Return: a macro that this driver holds and that therefore exists, or the macro with
 * the indices 0.
 */
struct htm_where htm_target_example(enum htm_type type)
{
	struct htm_target *target;

	guard(mutex)(&htm_targets_lock);
	list_for_each_entry(target, &htm_targets, entry) {
		if (target->where.type == type)
			return target->where;
	}
	return (struct htm_where){ .type = type };
}
