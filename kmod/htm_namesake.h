/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Another driver's PMU of the same name, for the modules. */
#ifndef HTM_NAMESAKE_H
#define HTM_NAMESAKE_H

#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/kobject.h>
#include <linux/string.h>

/*
 * perf would register a second PMU of this name, and then fail with a warning when it
 * creates the device. One set has all devices, and the bus of a PMU's device is
 * event_source.
 */
static inline bool htm_pmu_exists(const char *name)
{
	struct device *cpu = get_cpu_device(cpumask_first(cpu_online_mask));
	struct kobject *other = cpu ? kset_find_obj(cpu->kobj.kset, name) : NULL;
	const struct bus_type *bus = other ? kobj_to_dev(other)->bus : NULL;
	bool exists = bus && !strcmp(bus->name, "event_source");

	kobject_put(other);
	return exists;
}

#endif /* HTM_NAMESAKE_H */
