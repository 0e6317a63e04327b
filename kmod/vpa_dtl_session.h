/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One open vpa_dtl event: it schedules the looks at the log, moves entries to the
 * AUX area and announces missing entries. Except for open, close and pausing, all
 * functions run on the event's CPU with interrupts off.
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
 * @log: the event's log
 * @timer: fires at the time of the next look at the log
 * @wait_ns: time between the last look and the next
 * @mask: the kinds of dispatch that the event requests
 * @found: entries that the last look found
 * @no_room: the area had no room for all entries of the last look
 * @busy: a callback is running; a callback that interrupts it must not look at the log
 * @missing: value of each pending announcement; 0: no announcement
 * @flags: flags that the next AUX record must have
 * @added: the core has added the event to its CPU, or tried to while the log was in use
 * @off_time: time that the event had not been enabled, as of @added
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
