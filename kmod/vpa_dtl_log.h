/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The dispatch trace log of one virtual processor: the buffer that the hypervisor
 * writes to, and the index of the oldest unread entry.
 *
 * The hypervisor writes an entry when it dispatches the processor. So an entry can
 * appear between any two instructions that run on this processor. All functions
 * except alloc, free and is_used run on the log's processor.
 */
#ifndef VPA_DTL_LOG_H
#define VPA_DTL_LOG_H

#include <linux/types.h>
#include <asm/dtl.h>

/**
 * struct vpa_dtl_log - the log of one CPU, while an event owns it
 * @cpu: the CPU
 * @buffer: the buffer that the hypervisor writes to
 * @next: index of the oldest unread entry
 * @last_timebase: timebase of the last entry read; each entry is later than the last
 * @mask: the kinds of dispatch to log; pause and resume change it, NMI included
 * @open: an event that is on its CPU uses the log
 * @taken: another user has the log
 * @replaced: the other user has registered a buffer in place of @buffer
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
