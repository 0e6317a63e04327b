/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef HTM_TARGET_H
#define HTM_TARGET_H

#include <linux/list.h>
#include <linux/mutex.h>

#include "htm_hcall.h"

/**
 * struct htm_target - a trace macro that this system holds
 * @entry: entry in the list of targets
 * @where: the macro
 * @in_use: an event owns the target
 * @configured: this driver has CONFIGUREd the macro and not yet DECONFIGUREd it
 * @wrap: CONFIGURE the macro to continue at the start of its memory when full
 * @lost: the macro no longer belongs to this driver: a reboot released it, or the
 *	partition has moved to another machine
 * @lock: held while the macro is configured or released
 *
 * The list's lock protects @entry and @in_use; @lock protects @configured. The
 * other members belong to the owner: the event while @in_use, otherwise the list.
 */
struct htm_target {
	struct list_head entry;
	struct htm_where where;
	bool in_use;
	bool configured;
	bool wrap;
	bool lost;
	struct mutex lock;	/* CONFIGURE and DECONFIGURE, and @configured */
};

struct htm_target *htm_target_reserve(const struct htm_where *where);
void htm_target_release(struct htm_target *target);
void htm_target_forget_all(void);
void htm_target_release_all(void);
void htm_target_abandon_all(void);
void htm_target_lose_all(void);
bool htm_target_is_lost(const struct htm_target *target);
struct htm_where htm_target_example(enum htm_type type);

int htm_target_configure(struct htm_target *target, bool killable, long *rc);
int htm_target_deconfigure(struct htm_target *target, bool killable, long *rc);

#endif /* HTM_TARGET_H */
