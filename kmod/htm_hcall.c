// SPDX-License-Identifier: GPL-2.0-or-later
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bits.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/time64.h>
#include <asm/hvcall.h>
#ifdef HTM_IN_TREE
#include <asm/plpar_wrappers.h>
#endif

#include "htm_hcall.h"

#ifndef HTM_IN_TREE
/* Hypervisor call number and target flag (PAPR, H_HTM). */
#define HTM_HCALL_OPCODE		0x458
#define HTM_FLAG_HARDWARE_TARGET	BIT_ULL(63)

#endif
/* Maximum wait for a busy hypervisor where sleeping is possible. */
#define HTM_DEADLINE			(10 * HZ)

/* Pauses after H_BUSY where sleeping is possible. Each pause doubles, up to the longest. */
#define HTM_FIRST_PAUSE_US		50
#define HTM_LONGEST_PAUSE_US		10000

/* The limit of long-busy hints while a reader waits. */
#define HTM_BUSY_MAX_MS			100

/* H_BUSY means "retry at once": with interrupts off, retry for about 0.1 ms. */
#define HTM_ATOMIC_TRIES		16
#define HTM_ATOMIC_PAUSE_US		5

/*
 * All answers that PAPR defines for this call or for all calls, except busy answers.
 * Any other answer is an error, whatever its sign.
 */
static const struct htm_answer {
	long rc;
	int err;
	const char *name;
	const char *meaning;
} htm_answers[] = {
	{ H_SUCCESS,       0,           "H_SUCCESS",       "done" },
	{ H_PARTIAL,       -EIO,        "H_PARTIAL",       "done in part" },
	{ H_AUTHORITY,     -EPERM,      "H_AUTHORITY",     "no authority to trace this target" },
	{ H_PRIVILEGE,     -EPERM,      "H_PRIVILEGE",     "caller is not privileged" },
	{ H_STATE,         -EALREADY,   "H_STATE",         "wrong state, or held by another" },
	{ H_PARAMETER,     -EINVAL,     "H_PARAMETER",     "argument 1 (flags) refused" },
	{ H_P2,            -ENXIO,      "H_P2",            "argument 2 (target) refused" },
	{ H_P3,            -EINVAL,     "H_P3",            "argument 3 (operation) refused" },
	{ H_P4,            -EINVAL,     "H_P4",            "argument 4 (parameter 1) refused" },
	{ H_P5,            -EINVAL,     "H_P5",            "argument 5 (parameter 2) refused" },
	{ H_P6,            -EINVAL,     "H_P6",            "argument 6 (parameter 3) refused" },
	{ H_NOT_AVAILABLE, -ENODEV,     "H_NOT_AVAILABLE", "no trace macro or no trace memory" },
	{ H_RESOURCE,      -ENOSPC,     "H_RESOURCE",      "out of resources" },
	{ H_FUNCTION,      -EOPNOTSUPP, "H_FUNCTION",      "no such call" },
	{ H_UNSUPPORTED,   -EOPNOTSUPP, "H_UNSUPPORTED",   "operation not supported" },
	{ H_HARDWARE,      -EIO,        "H_HARDWARE",      "platform fault" },
};

static const struct htm_answer *htm_find_answer(long rc)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(htm_answers); i++) {
		if (htm_answers[i].rc == rc)
			return &htm_answers[i];
	}
	return NULL;
}

bool htm_is_busy(long rc)
{
	return rc == H_BUSY || H_IS_LONG_BUSY(rc);
}

/* H_PARTIAL is a success for lists and traces: the next request returns the rest. */
static bool htm_may_be_partial(enum htm_op op)
{
	return op == HTM_OP_STATUS || op >= HTM_OP_DUMP_DATA;
}

/* The wait that the hypervisor asks for; 0 for H_BUSY. */
static unsigned int htm_busy_msecs(long rc)
{
	return H_IS_LONG_BUSY(rc) ? get_longbusy_msecs(rc) : 0;
}

/**
 * htm_busy_ns() - delay before the retry of a dump that found the hypervisor busy
 * @rc: the hypervisor's answer
 *
 * The delay is at most 100 ms, because readers give up after seconds.
 */
u64 htm_busy_ns(long rc)
{
	return min(htm_busy_msecs(rc), HTM_BUSY_MAX_MS) * (u64)NSEC_PER_MSEC;
}

int htm_errno(long rc)
{
	const struct htm_answer *answer = htm_find_answer(rc);

	if (answer)
		return answer->err;
	return htm_is_busy(rc) ? -ETIMEDOUT : -EIO;
}

static const char *htm_op_name(enum htm_op op)
{
	static const char *const names[] = {
		[HTM_OP_CAPABILITIES] = "CAPABILITIES",
		[HTM_OP_STATUS] = "STATUS",
		[HTM_OP_CONFIGURE] = "CONFIGURE",
		[HTM_OP_START] = "START",
		[HTM_OP_STOP] = "STOP",
		[HTM_OP_DECONFIGURE] = "DECONFIGURE",
		[HTM_OP_DUMP_DATA] = "DUMP_DATA",
		[HTM_OP_DUMP_SYSMEM_CONF] = "DUMP_SYSMEM_CONF",
		[HTM_OP_DUMP_SYSPROC_CONF] = "DUMP_SYSPROC_CONF",
	};

	return names[op];
}

/**
 * htm_log_refusal() - write a refused operation to the log
 * @where: the trace macro
 * @op: the operation
 * @rc: its return code
 *
 * Do not call this under a scheduler lock: perf callbacks use htm_macro_log().
 */
void htm_log_refusal(const struct htm_where *where, enum htm_op op, long rc)
{
	const struct htm_answer *answer = htm_find_answer(rc);

	pr_warn_ratelimited("%s failed: %s (%ld), %s; target: type %u node %u chip %u core %u\n",
			    htm_op_name(op), answer ? answer->name : "code", rc,
			    answer ? answer->meaning :
			    htm_is_busy(rc) ? "hypervisor stayed busy" : "unknown return code",
			    where->type, where->node, where->chip, where->core);
}

/* Issue the call once, whatever the answer. */
long htm_hcall(const struct htm_request *req)
{
	const struct htm_where *where = &req->where;
#ifdef HTM_IN_TREE

	return htm_hcall_wrapper(req->flags, where->node, where->chip, where->core, where->type,
				 req->op, req->arg[0], req->arg[1], req->arg[2]);
#else
	u64 target = (u64)where->node << 48 | (u64)where->chip << 32 | (u64)where->core << 16;
	u64 operation = (u64)req->op << 48 | (u64)where->type << 32;

	return plpar_hcall_norets(HTM_HCALL_OPCODE, HTM_FLAG_HARDWARE_TARGET | req->flags, target,
				  operation, req->arg[0], req->arg[1], req->arg[2]);
#endif
}

/**
 * htm_hcall_atomic() - issue a call where sleeping is not possible
 * @req: the call
 *
 * This function retries only after H_BUSY, and only for about 0.1 ms. After a busy
 * answer, the caller keeps its state and retries later.
 *
 * Return: the hypervisor's last answer.
 */
long htm_hcall_atomic(const struct htm_request *req)
{
	long rc = htm_hcall(req);

	for (int i = 1; rc == H_BUSY && i < HTM_ATOMIC_TRIES; i++) {
		udelay(HTM_ATOMIC_PAUSE_US);
		rc = htm_hcall(req);
	}
	return rc;
}

/**
 * htm_hcall_sleep() - issue a call and wait while the hypervisor is busy
 * @req: the call
 * @killable: a fatal signal ends the wait
 * @rc: receives the hypervisor's last answer
 *
 * Return: 0, or the errno of the answer, or -ETIMEDOUT or -EINTR.
 */
int htm_hcall_sleep(const struct htm_request *req, bool killable, long *rc)
{
	unsigned long deadline = jiffies + HTM_DEADLINE;
	unsigned int pause_us = HTM_FIRST_PAUSE_US;

	for (;;) {
		unsigned long now, delay;

		*rc = htm_hcall(req);
		if (*rc == H_PARTIAL && htm_may_be_partial(req->op))
			return 0;
		if (!htm_is_busy(*rc))
			return htm_errno(*rc);
		if (killable && fatal_signal_pending(current))
			return -EINTR;
		now = jiffies;
		if (time_after_eq(now, deadline))
			return -ETIMEDOUT;

		if (*rc == H_BUSY) {
			usleep_range(pause_us, 2 * pause_us);
			pause_us = min(2 * pause_us, HTM_LONGEST_PAUSE_US);
			continue;
		}
		delay = min(msecs_to_jiffies(htm_busy_msecs(*rc)), deadline - now);
		if (killable)
			schedule_timeout_killable(delay);
		else
			schedule_timeout_uninterruptible(delay);
	}
}
