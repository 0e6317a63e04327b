/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reports of an event in addition to trace and memory map: announcements in the
 * data ring (PERF_RECORD_AUX_OUTPUT_HW_ID, see ABI), and flags for losses.
 *
 * All functions run on the event's CPU with interrupts off, one at a time.
 */
#ifndef HTM_ANNOUNCE_H
#define HTM_ANNOUNCE_H

#include <linux/perf_event.h>

#include "htm_macro.h"

/* Kinds of announcement, bits 56-63 of the record. See ABI. */
enum htm_announcement {
	HTM_TRACE_BEGIN = 1,
	HTM_TRACE_END = 2,
	HTM_MAP_BEGIN = 3,
	HTM_MAP_END = 4,
	HTM_ERROR = 5,
	HTM_STARTED = 6,
	HTM_GAP = 7,
	HTM_ANNOUNCEMENTS,
};

/**
 * struct htm_announcer - announcements of one event
 * @event: the event
 * @pending: kinds of the pending announcements, BIT(enum htm_announcement)
 * @value: values of pending announcements, by kind; a pending GAP grows
 * @partial: no AUX record has flagged the latest loss yet
 */
struct htm_announcer {
	struct perf_event *event;
	unsigned int pending;
	u64 value[HTM_ANNOUNCEMENTS];
	bool partial;
};

void htm_announce_later(struct htm_announcer *announcer, enum htm_announcement kind, u64 value);
void htm_announce_error(struct htm_announcer *announcer, enum htm_op op, int err, long rc);
bool htm_announce(struct htm_announcer *announcer, struct htm_macro *macro);
s64 htm_announce_lost(struct perf_event *event);

#endif /* HTM_ANNOUNCE_H */
