/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The differences between kernels. Each test is for the feature itself, or for a
 * macro that came with the feature, never for the kernel's version.
 */
#ifndef HTM_COMPAT_H
#define HTM_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/perf_event.h>
#include <linux/sysfs.h>

/* Older kernels try large AUX blocks for every PMU. */
#ifndef PERF_PMU_CAP_AUX_PREFER_LARGE
#define PERF_PMU_CAP_AUX_PREFER_LARGE 0
#endif

/* A kernel without aux_action refuses its bits itself. */
#ifdef PERF_PMU_CAP_AUX_PAUSE
static inline bool htm_attr_starts_paused(const struct perf_event_attr *attr)
{
	return attr->aux_start_paused;
}

static inline bool htm_attr_pauses_another(const struct perf_event_attr *attr)
{
	return attr->aux_pause || attr->aux_resume;
}

static inline bool htm_event_is_paused(const struct perf_event *event)
{
	return READ_ONCE(event->hw.aux_paused);
}
#else
#define PERF_PMU_CAP_AUX_PAUSE	0
#define PERF_EF_PAUSE		0
#define PERF_EF_RESUME		0

static inline bool htm_attr_starts_paused(const struct perf_event_attr *attr)
{
	return false;
}

static inline bool htm_attr_pauses_another(const struct perf_event_attr *attr)
{
	return false;
}

static inline bool htm_event_is_paused(const struct perf_event *event)
{
	return false;
}
#endif

/* Kbuild defines HTM_HAS_HRTIMER_SETUP if the kernel has hrtimer_setup(). */
static inline void htm_hrtimer_setup(struct hrtimer *timer,
				     enum hrtimer_restart (*function)(struct hrtimer *timer),
				     enum hrtimer_mode mode)
{
#ifdef HTM_HAS_HRTIMER_SETUP
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, mode);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, mode);
	timer->function = function;
#endif
}

/* Return true if a config word is set that has no meaning for this driver. */
static inline bool htm_attr_has_spare_config(const struct perf_event_attr *attr)
{
#ifdef PERF_ATTR_SIZE_VER9
	if (attr->config4)
		return true;
#endif
	return attr->config2 || attr->config3;
}

/*
 * Kernels differ in the constness of binary attributes, and of a group's list of
 * pointers to them. Callbacks have the type to which the list points.
 */
#define HTM_BIN_ATTRIBUTE_LIST	typeof(*((struct attribute_group *)NULL)->bin_attrs)
#define HTM_BIN_ATTRIBUTE	typeof(**((struct attribute_group *)NULL)->bin_attrs)

/*
 * perf_sample_save_raw_data() has different arguments in different kernels. This
 * function has the same effect for one fragment that needs no padding.
 */
static inline void htm_sample_save_raw(struct perf_sample_data *data,
				       struct perf_raw_record *raw)
{
	raw->frag.pad = 0;
	raw->size = raw->frag.size;
	data->raw = raw;
	data->dyn_size += raw->size + sizeof(u32);
	data->sample_flags |= PERF_SAMPLE_RAW;
}

/*
 * The number of references to a CPU's context of a PMU that do not belong to an
 * event. In kernels with contexts as separate objects, the PMU holds a reference.
 */
#define HTM_PMU_CONTEXT_REFERENCES					\
	(!__builtin_types_compatible_p(typeof(*((struct pmu *)NULL)->cpu_pmu_context),	\
				       struct perf_cpu_pmu_context))

/*
 * Disable the event as soon as its CPU, which is this one, accepts interrupts. An
 * earlier disable or enable by the event's owner wins. The core does the same in a
 * function of that name, but does not export it to modules.
 */
static inline void htm_event_disable_inatomic(struct perf_event *event)
{
	event->pending_disable = 1;
	irq_work_queue(&event->pending_disable_irq);
}

#endif /* HTM_COMPAT_H */
