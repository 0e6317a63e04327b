// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Members of a closed event's group. If a software event joins the group of an htm
 * event, the core schedules it with this PMU until the member is closed, even after
 * the leader is closed. The core then uses this PMU's memory without a reference
 * to the module, so the driver holds a reference.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "htm_compat.h"
#include "htm_macro.h"
#include "htm_orphans.h"

/* The core does not notify the driver when such a member is closed. */
#define HTM_ORPHANS_PERIOD	HZ

/**
 * struct htm_orphans - the wait for the members of one group
 * @context: the context that schedules the members; memory of the PMU
 * @work: checks whether the members are closed
 */
struct htm_orphans {
	struct perf_event_pmu_context *context;
	struct delayed_work work;
};

/* The number of events that the core schedules with this context. */
static int htm_orphans_count(const struct perf_event_pmu_context *context)
{
	return atomic_read(&context->refcount) - HTM_PMU_CONTEXT_REFERENCES;
}

/* htm_macro_exit() waits until this function has returned. */
static void htm_orphans_work(struct work_struct *work)
{
	struct htm_orphans *orphans = container_of(to_delayed_work(work), struct htm_orphans, work);

	if (htm_orphans_count(orphans->context) > 0) {
		queue_delayed_work(htm_workqueue, &orphans->work, HTM_ORPHANS_PERIOD);
		return;
	}
	kfree(orphans);
	module_put(THIS_MODULE);
}

static void htm_orphans_wait(struct perf_event_pmu_context *context)
{
	struct htm_orphans *orphans = kzalloc(sizeof(*orphans), GFP_KERNEL);

	__module_get(THIS_MODULE);
	/* Out of memory: keep the module loaded forever. */
	if (!orphans)
		return;
	orphans->context = context;
	INIT_DELAYED_WORK(&orphans->work, htm_orphans_work);
	queue_delayed_work(htm_workqueue, &orphans->work, HTM_ORPHANS_PERIOD);
}

/**
 * htm_orphans_look() - stay loaded if members of the event's group are left
 * @event: an event that is being freed, and that its context still counts
 */
void htm_orphans_look(struct perf_event *event)
{
	if (!event->pmu_ctx || htm_orphans_count(event->pmu_ctx) <= 1)
		return;
	pr_notice("cannot be unloaded before the members of a closed event's group are closed\n");
	htm_orphans_wait(event->pmu_ctx);
}
