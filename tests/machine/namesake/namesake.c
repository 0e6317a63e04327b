// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A PMU named htm of another driver, which a later kernel may have. The PMU refuses
 * all events.
 */
#include <linux/module.h>
#include <linux/perf_event.h>

static int namesake_event_init(struct perf_event *event)
{
	return event->attr.type == event->pmu->type ? -EOPNOTSUPP : -ENOENT;
}

static int namesake_add(struct perf_event *event, int flags)
{
	return -EOPNOTSUPP;
}

static void namesake_del(struct perf_event *event, int flags)
{
}

static void namesake_read(struct perf_event *event)
{
}

static struct pmu namesake_pmu = {
	.module		= THIS_MODULE,
	.task_ctx_nr	= perf_invalid_context,
	.event_init	= namesake_event_init,
	.add		= namesake_add,
	.del		= namesake_del,
	.start		= namesake_del,
	.stop		= namesake_del,
	.read		= namesake_read,
};

static int __init namesake_init(void)
{
	return perf_pmu_register(&namesake_pmu, "htm", -1);
}

static void __exit namesake_exit(void)
{
	perf_pmu_unregister(&namesake_pmu);
}

module_init(namesake_init);
module_exit(namesake_exit);

MODULE_DESCRIPTION("A PMU named htm");
MODULE_LICENSE("GPL");
