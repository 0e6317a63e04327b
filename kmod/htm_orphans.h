/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef HTM_ORPHANS_H
#define HTM_ORPHANS_H

#include <linux/perf_event.h>

void htm_orphans_look(struct perf_event *event);

#endif /* HTM_ORPHANS_H */
