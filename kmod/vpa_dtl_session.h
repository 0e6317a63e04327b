/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One open vpa_dtl event: when it looks at the log, what it moves to the AUX area,
 * and what it says of entries that are missing. But for open, close and pausing,
 * everything here runs on the event's CPU with interrupts off.
 */
#ifndef VPA_DTL_SESSION_H
#define VPA_DTL_SESSION_H

#include <linux/hrtimer.h>
#include <linux/perf_event.h>

#include "vpa_dtl_log.h"

/* The shortest time between two looks at the log. */
#define VPA_DTL_PERIOD_MIN_NS	(100 * NSEC_PER_USEC)

/* Kinds of announcement, see ABI-vpa_dtl. */
enum vpa_dtl_announcement {
	VPA_DTL_LOG_FULL = 1,
	VPA_DTL_AREA_FULL = 2,
	VPA_DTL_NOT_LOGGED = 3,
	VPA_DTL_TAKEN = 4,
	VPA_DTL_ANNOUNCEMENTS,
};

/**
 * struct vpa_dtl_session - one open event
 * @event: the event
 * @log: its log
 * @timer: fires when the log is to be looked at
 * @wait_ns: time between the last look and the next
 * @mask: which dispatches the event asks for
 * @found: entries of the last look
 * @no_room: that look has left entries in the log
 * @busy: a callback is at work, which another one may interrupt
 * @missing: announcements to be made, and their values; 0: none
 * @flags: flags that the next AUX record must have
 * @added: the event was added to its CPU, or the log was in use when it was to be
 * @off_time: time that the event was not enabled, when that was
 * @dispatches: the hypervisor's counter when the event left its CPU
 */
struct vpa_dtl_session {
	struct perf_event *event;
	struct vpa_dtl_log log;
	struct hrtimer timer;
	u64 wait_ns;
	u8 mask;
	u64 found;
	bool no_room;
	bool busy;
	u64 missing[VPA_DTL_ANNOUNCEMENTS];
	u64 flags;
	bool added;
	u64 off_time;
	u32 dispatches;
};

struct vpa_dtl_session *vpa_dtl_session_open(struct perf_event *event, u8 mask);
void vpa_dtl_session_close(struct vpa_dtl_session *session);
int vpa_dtl_session_add(struct vpa_dtl_session *session);
void vpa_dtl_session_remove(struct vpa_dtl_session *session);
void vpa_dtl_session_look(struct vpa_dtl_session *session);
void vpa_dtl_session_set_period(struct vpa_dtl_session *session);
void vpa_dtl_session_pause(struct vpa_dtl_session *session);
void vpa_dtl_session_resume(struct vpa_dtl_session *session);

#endif /* VPA_DTL_SESSION_H */
