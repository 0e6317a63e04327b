/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One open htm event: its macro, its announcements, and the progress of trace and
 * memory map. The perf callbacks end here.
 */
#ifndef HTM_SESSION_H
#define HTM_SESSION_H

#include "htm_map.h"
#include "htm_trace.h"

/**
 * struct htm_session - an open event
 * @event: the event
 * @macro: its trace macro
 * @announcer: its announcements
 * @trace: progress of the trace
 * @map: progress of the memory map
 * @draining: a read has stopped the trace for good
 * @lost: the driver has announced that the partition moved to another machine
 * @busy: a callback runs on this CPU; a callback that interrupts it may only make
 *	requests to the macro
 * @added: the event was added to its CPU before
 * @off_time: total time without being enabled, when it was last added
 * @removed_at: htm_now() when it was last removed from its CPU
 *
 * @macro is safe in any context. All other members belong to the event's CPU, with
 * interrupts off.
 */
struct htm_session {
	struct perf_event *event;
	struct htm_macro macro;
	struct htm_announcer announcer;
	struct htm_trace trace;
	struct htm_map map;

	bool draining;
	bool lost;
	bool busy;
	bool added;
	u64 off_time;
	u64 removed_at;
};

struct htm_session *htm_session_open(struct perf_event *event, const struct htm_where *where,
				     bool wrap);
void htm_session_close(struct htm_session *session);

int htm_session_add(struct htm_session *session);
void htm_session_remove(struct htm_session *session);
void htm_session_interrupt(struct htm_session *session, int why);
void htm_session_continue(struct htm_session *session);
bool htm_session_read(struct htm_session *session, u64 *value);

#endif /* HTM_SESSION_H */
