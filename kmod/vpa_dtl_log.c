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
 * vpa_dtl_log_alloc() - the buffer of a log
 * @log: the log
 * @cpu: whose log
 *
 * PAPR lets no log cross a 4 KiB boundary. kmalloc() aligns a power of two to itself.
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
 * Does anybody use the log of this CPU? The kernel's own users are kept apart by a
 * lock that modules do not have, but each of them sets the mask.
 */
bool vpa_dtl_log_is_used(int cpu)
{
	return READ_ONCE(lppaca_of(cpu).dtl_enable_mask);
}

/* How many entries the hypervisor has written since the log was registered. */
static u64 vpa_dtl_log_written(const struct vpa_dtl_log *log)
{
	return be64_to_cpu(lppaca_of(log->cpu).dtl_idx);
}

/* Goes up with each stop and each dispatch of the processor, logged or not. */
u32 vpa_dtl_log_dispatches(const struct vpa_dtl_log *log)
{
	return be32_to_cpu(lppaca_of(log->cpu).yield_count);
}

/**
 * vpa_dtl_log_open() - give the buffer to the hypervisor
 * @log: the log; nothing is logged before vpa_dtl_log_set_mask()
 *
 * Return: 0, -EBUSY if somebody else uses the log, -EIO if the hypervisor refuses.
 */
int vpa_dtl_log_open(struct vpa_dtl_log *log)
{
	long rc;

	if (vpa_dtl_log_is_used(log->cpu))
		return -EBUSY;

	memset(log->buffer, 0, DISPATCH_LOG_BYTES);
	/* The second word of the buffer tells the hypervisor how long it is. */
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
	/* From here on pause and resume, which may be NMIs, change the mask. */
	WRITE_ONCE(log->open, true);
	return 0;
}

/* Log nothing more. Pause and resume change nothing from here on. */
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
 * Take the buffer back. Whoever has registered another one shall keep it: then the
 * hypervisor has forgotten this one.
 */
void vpa_dtl_log_close(struct vpa_dtl_log *log)
{
	if (!log->replaced)
		unregister_dtl(get_hard_smp_processor_id(log->cpu));
}

/* Say which dispatches are to be logged from now on, 0 for none. Fit for an NMI. */
void vpa_dtl_log_set_mask(struct vpa_dtl_log *log, u8 mask)
{
	if (!READ_ONCE(log->open) || READ_ONCE(log->taken))
		return;
	WRITE_ONCE(log->mask, mask);
	WRITE_ONCE(lppaca_of(log->cpu).dtl_enable_mask, mask);
}

/* The timebase of the slot of an entry, be it of this or of an older one. */
static u64 vpa_dtl_log_timebase(const struct vpa_dtl_log *log, u64 index)
{
	return be64_to_cpu(READ_ONCE(log->buffer[index % N_DISPATCH_LOG].timebase));
}

/*
 * Has somebody else set the mask, or the index, or are new entries not in this
 * buffer? A mask that a pause changes meanwhile tells nothing.
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
 * vpa_dtl_log_look() - how many entries there are to be read, overwritten ones included
 * @log: the log; if somebody else has it, it is marked as taken
 *
 * Return: entries since the last that was read, 0 if the log's buffer is not used any more.
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
 * Return: how many there were.
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
 * @log: the log; the entry is there, by vpa_dtl_log_look()
 * @entry: receives it
 *
 * Return: false if it was overwritten meanwhile; skip it.
 */
bool vpa_dtl_log_read(struct vpa_dtl_log *log, struct dtl_entry *entry)
{
	*entry = log->buffer[log->next % N_DISPATCH_LOG];
	/* If it is still in the log now, all of the copy is of this entry. */
	smp_rmb();
	if (vpa_dtl_log_written(log) - log->next > N_DISPATCH_LOG)
		return false;
	log->last_timebase = be64_to_cpu(entry->timebase);
	log->next++;
	return true;
}
