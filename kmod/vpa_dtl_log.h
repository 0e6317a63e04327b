/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The dispatch trace log of one virtual processor: the buffer that the hypervisor
 * writes to, and which of its entries were not read yet.
 *
 * The hypervisor writes an entry when it dispatches the processor, so never while
 * code on that processor runs, but between any two instructions of it. All
 * functions but alloc, free and is_used run on the processor of the log.
 */
#ifndef VPA_DTL_LOG_H
#define VPA_DTL_LOG_H

#include <linux/types.h>
#include <asm/dtl.h>

/**
 * struct vpa_dtl_log - the log of one CPU, while an event owns it
 * @cpu: the CPU
 * @buffer: what the hypervisor writes to
 * @next: index of the oldest entry that was not read
 * @last_timebase: of the last entry that was read; each entry is later than that before
 * @mask: which dispatches are to be logged. Pause and resume change it, in an NMI too
 * @open: an event that is on its CPU uses the log
 * @taken: somebody else uses the log
 * @replaced: and has registered a buffer in place of @buffer
 */
struct vpa_dtl_log {
	int cpu;
	struct dtl_entry *buffer;
	u64 next;
	u64 last_timebase;
	u8 mask;
	bool open;
	bool taken;
	bool replaced;
};

int vpa_dtl_log_alloc(struct vpa_dtl_log *log, int cpu);
void vpa_dtl_log_free(struct vpa_dtl_log *log);
bool vpa_dtl_log_is_used(int cpu);
int vpa_dtl_log_open(struct vpa_dtl_log *log);
void vpa_dtl_log_stop(struct vpa_dtl_log *log);
void vpa_dtl_log_close(struct vpa_dtl_log *log);
void vpa_dtl_log_set_mask(struct vpa_dtl_log *log, u8 mask);
u64 vpa_dtl_log_look(struct vpa_dtl_log *log);
u64 vpa_dtl_log_skip_overwritten(struct vpa_dtl_log *log);
bool vpa_dtl_log_read(struct vpa_dtl_log *log, struct dtl_entry *entry);
u32 vpa_dtl_log_dispatches(const struct vpa_dtl_log *log);

#endif /* VPA_DTL_LOG_H */
