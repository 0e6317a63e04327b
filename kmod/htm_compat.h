/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What differs between kernel versions, in one place. The kernel defines a macro
 * together with each of these features: ask for the macro, not the version.
 */
#ifndef HTM_COMPAT_H
#define HTM_COMPAT_H

#include <linux/perf_event.h>

/* Older kernels try large AUX blocks for every PMU. */
#ifndef PERF_PMU_CAP_AUX_PREFER_LARGE
#define PERF_PMU_CAP_AUX_PREFER_LARGE 0
#endif

/* aux_start_paused, aux_pause or aux_resume is asked for. */
static inline bool htm_attr_has_aux_action(const struct perf_event_attr *attr)
{
#ifdef PERF_PMU_CAP_AUX_PAUSE
	return attr->aux_action;
#else
	return false;
#endif
}

/* A config word that this driver gives no meaning is set. */
static inline bool htm_attr_has_spare_config(const struct perf_event_attr *attr)
{
#ifdef PERF_ATTR_SIZE_VER9
	if (attr->config4)
		return true;
#endif
	return attr->config1 || attr->config2 || attr->config3;
}

/*
 * perf_sample_save_raw_data() has different arguments in different kernels. This
 * is what all of them do with one fragment that needs no padding.
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

#endif /* HTM_COMPAT_H */
