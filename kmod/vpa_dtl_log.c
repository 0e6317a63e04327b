// SPDX-License-Identifier: GPL-2.0-or-later
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/align.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/io.h>
#include <linux/minmax.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/topology.h>
#include <asm/byteorder.h>
#include <asm/hvcall.h>
#include <asm/lppaca.h>
#include <asm/paca.h>
#include <asm/plpar_wrappers.h>
#include <asm/smp.h>

#include "vpa_dtl_log.h"

/**
 * vpa_dtl_log_alloc() - allocate the buffer of a log
 * @log: the log
 * @cpu: the log's CPU
 *
 * In PAPR, a log must not cross a 4 KiB boundary. kmalloc() aligns a block to its size
 * if the size is a power of two.
 *
 * Return: 0 or -ENOMEM.
 */
int vpa_dtl_log_alloc(struct vpa_dtl_log *log, int cpu)
{
	log->cpu = cpu;
	log->buffer = kzalloc_node(DISPATCH_LOG_BYTES, GFP_KERNEL, cpu_to_node(cpu));
	if (!log->buffer)
		return -ENOMEM;
	if (WARN_ON_ONCE(!IS_ALIGNED((unsigned long)log->buffer, DISPATCH_LOG_BYTES))) {
		vpa_dtl_log_free(log);
		return -ENOMEM;
	}
	return 0;
}

void vpa_dtl_log_free(struct vpa_dtl_log *log)
{
	kfree(log->buffer);
	log->buffer = NULL;
}

/*
 * Check whether this CPU's log has a user. A lock that modules cannot use separates
 * the kernel's own users, but each user sets the mask.
 */
bool vpa_dtl_log_is_used(int cpu)
{
	return READ_ONCE(lppaca_of(cpu).dtl_enable_mask);
}

/* Number of entries that the hypervisor has written since the log was registered. */
static u64 vpa_dtl_log_written(const struct vpa_dtl_log *log)
{
	return be64_to_cpu(lppaca_of(log->cpu).dtl_idx);
}

/* The counter increases at each stop and each dispatch of the processor, logged or not. */
u32 vpa_dtl_log_dispatches(const struct vpa_dtl_log *log)
{
	return be32_to_cpu(lppaca_of(log->cpu).yield_count);
}

/**
 * vpa_dtl_log_open() - register the buffer with the hypervisor
 * @log: the log; the hypervisor logs nothing before vpa_dtl_log_set_mask()
 *
 * Return: 0, -EBUSY if another user has the log, -EIO if the hypervisor refuses.
 */
int vpa_dtl_log_open(struct vpa_dtl_log *log)
{
	long rc;

	if (vpa_dtl_log_is_used(log->cpu))
		return -EBUSY;

	memset(log->buffer, 0, DISPATCH_LOG_BYTES);
	/* The second word of the buffer states the buffer's length for the hypervisor. */
	log->buffer[0].enqueue_to_dispatch_time = cpu_to_be32(DISPATCH_LOG_BYTES);
	rc = register_dtl(get_hard_smp_processor_id(log->cpu), __pa(log->buffer));
	if (rc != H_SUCCESS) {
		pr_err_ratelimited("CPU %d: the hypervisor refuses the log: %ld\n", log->cpu, rc);
		return -EIO;
	}
	lppaca_of(log->cpu).dtl_idx = 0;
	log->next = 0;
	log->last_timebase = 0;
	log->mask = 0;
	log->taken = false;
	log->replaced = false;
	/* From now on, pause and resume change the mask, possibly from an NMI. */
	WRITE_ONCE(log->open, true);
	return 0;
}

/* Stop logging. From now on, pause and resume have no effect. */
void vpa_dtl_log_stop(struct vpa_dtl_log *log)
{
	WRITE_ONCE(log->open, false);
	barrier();
	if (log->taken)
		return;
	log->mask = 0;
	WRITE_ONCE(lppaca_of(log->cpu).dtl_enable_mask, 0);
}

/*
 * Unregister the buffer. If another user has registered a buffer, that buffer stays:
 * the hypervisor no longer uses this one.
 */
void vpa_dtl_log_close(struct vpa_dtl_log *log)
{
	if (!log->replaced)
		unregister_dtl(get_hard_smp_processor_id(log->cpu));
}

/* Set the kinds of dispatch that the hypervisor logs; 0: none. Safe in an NMI. */
void vpa_dtl_log_set_mask(struct vpa_dtl_log *log, u8 mask)
{
	if (!READ_ONCE(log->open) || READ_ONCE(log->taken))
		return;
	WRITE_ONCE(log->mask, mask);
	WRITE_ONCE(lppaca_of(log->cpu).dtl_enable_mask, mask);
}

/* The timebase in an entry's slot, which may still hold an older entry. */
static u64 vpa_dtl_log_timebase(const struct vpa_dtl_log *log, u64 index)
{
	return be64_to_cpu(READ_ONCE(log->buffer[index % N_DISPATCH_LOG].timebase));
}

/*
 * Check whether another user has set the mask or the index, or whether new entries
 * are not in this buffer. Ignore the mask if a pause changes it meanwhile.
 */
static void vpa_dtl_log_find_rival(struct vpa_dtl_log *log, u64 written)
{
	u8 wanted = READ_ONCE(log->mask);
	u8 mask = READ_ONCE(lppaca_of(log->cpu).dtl_enable_mask);

	if (mask != wanted && wanted == READ_ONCE(log->mask))
		log->taken = true;
	if (written < log->next ||
	    (written > log->next &&
	     vpa_dtl_log_timebase(log, written - 1) <= log->last_timebase)) {
		log->taken = true;
		log->replaced = true;
	}
}

/**
 * vpa_dtl_log_look() - count the unread entries, overwritten entries included
 * @log: the log; marked as taken if another user has it
 *
 * Return: entries since the last one read; 0 if the hypervisor no longer uses the buffer.
 */
u64 vpa_dtl_log_look(struct vpa_dtl_log *log)
{
	u64 written = vpa_dtl_log_written(log);

	if (!log->taken)
		vpa_dtl_log_find_rival(log, written);
	return log->replaced ? 0 : written - log->next;
}

/**
 * vpa_dtl_log_skip_overwritten() - skip entries that the hypervisor has overwritten
 * @log: the log
 *
 * Return: number of overwritten entries.
 */
u64 vpa_dtl_log_skip_overwritten(struct vpa_dtl_log *log)
{
	u64 behind = vpa_dtl_log_written(log) - log->next;
	u64 gone = behind - min_t(u64, behind, N_DISPATCH_LOG);

	log->next += gone;
	return gone;
}

/**
 * vpa_dtl_log_read() - read the next entry
 * @log: the log; vpa_dtl_log_look() has found an unread entry
 * @entry: receives the entry
 *
 * Return: false if the hypervisor has overwritten the entry meanwhile; skip it then.
 */
bool vpa_dtl_log_read(struct vpa_dtl_log *log, struct dtl_entry *entry)
{
	*entry = log->buffer[log->next % N_DISPATCH_LOG];
	/* If the entry is still in the log now, the copy is complete. */
	smp_rmb();
	if (vpa_dtl_log_written(log) - log->next > N_DISPATCH_LOG)
		return false;
	log->last_timebase = be64_to_cpu(entry->timebase);
	log->next++;
	return true;
}
