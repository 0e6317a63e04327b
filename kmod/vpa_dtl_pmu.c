// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The perf PMU "vpa_dtl": the dispatch trace log of the virtual processors of a
 * logical partition, in place of the kernel's own driver of that name. ABI-vpa_dtl
 * describes the interface to user space.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/device.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/rcupdate.h>
#include <linux/sysfs.h>
#include <linux/time64.h>
#include <asm/dtl.h>
#include <asm/firmware.h>
#include <asm/kvm_guest.h>

#include "htm_compat.h"
#include "htm_namesake.h"
#include "vpa_dtl_aux.h"
#include "vpa_dtl_session.h"

#define VPA_DTL_NAME	"vpa_dtl"

PMU_FORMAT_ATTR(event, "config:0-7");

static struct attribute *vpa_dtl_format_attrs[] = {
	&format_attr_event.attr,
	NULL
};

static const struct attribute_group vpa_dtl_format_group = {
	.name = "format",
	.attrs = vpa_dtl_format_attrs,
};

PMU_EVENT_ATTR_STRING(dtl_cede, vpa_dtl_event_cede, "event=0x1");
PMU_EVENT_ATTR_STRING(dtl_preempt, vpa_dtl_event_preempt, "event=0x2");
PMU_EVENT_ATTR_STRING(dtl_fault, vpa_dtl_event_fault, "event=0x4");
PMU_EVENT_ATTR_STRING(dtl_all, vpa_dtl_event_all, "event=0x7");

static struct attribute *vpa_dtl_event_attrs[] = {
	&vpa_dtl_event_cede.attr.attr,
	&vpa_dtl_event_preempt.attr.attr,
	&vpa_dtl_event_fault.attr.attr,
	&vpa_dtl_event_all.attr.attr,
	NULL
};

static const struct attribute_group vpa_dtl_events_group = {
	.name = "events",
	.attrs = vpa_dtl_event_attrs,
};

static ssize_t driver_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "htmtrace\n");
}
static DEVICE_ATTR_RO(driver);

static ssize_t min_period_ns_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "%lu\n", VPA_DTL_PERIOD_MIN_NS);
}
static DEVICE_ATTR_RO(min_period_ns);

static struct attribute *vpa_dtl_caps_attrs[] = {
	&dev_attr_driver.attr,
	&dev_attr_min_period_ns.attr,
	NULL
};

static const struct attribute_group vpa_dtl_caps_group = {
	.name = "caps",
	.attrs = vpa_dtl_caps_attrs,
};

static const struct attribute_group *vpa_dtl_attr_groups[] = {
	&vpa_dtl_format_group,
	&vpa_dtl_events_group,
	&vpa_dtl_caps_group,
	NULL
};

static int vpa_dtl_check(struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	/* A timer and an AUX area deliver the entries, so only sampling works. */
	if (has_branch_stack(event) || !attr->sample_period)
		return -EOPNOTSUPP;
	/* Only other events of the group can pause this one. */
	if (htm_attr_pauses_another(attr))
		return -EINVAL;
	switch (attr->config) {
	case DTL_LOG_CEDE:
	case DTL_LOG_PREEMPT:
	case DTL_LOG_FAULT:
	case DTL_LOG_ALL:
		break;
	default:
		return -EINVAL;
	}
	if (event->cpu < 0 || event->attach_state & PERF_ATTACH_TASK)
		return -EINVAL;
	return cpu_online(event->cpu) ? 0 : -ENODEV;
}

/* Keep the core from adjusting the period: a frequency is the rate of looks at the log. */
static void vpa_dtl_fix_period(struct perf_event *event)
{
	struct hw_perf_event *hw = &event->hw;

	if (!event->attr.freq)
		return;
	event->attr.sample_period = max_t(u64, NSEC_PER_SEC / event->attr.sample_freq, 1);
	event->attr.freq = 0;
	hw->sample_period = event->attr.sample_period;
	hw->last_period = hw->sample_period;
	local64_set(&hw->period_left, hw->sample_period);
}

/*
 * The core schedules a software event in a vpa_dtl event's group with this PMU until
 * the member closes, even after the leader has closed. The core holds no module
 * reference for the member and does not report its close, so the module stays loaded.
 */
static void vpa_dtl_stay_for_orphans(struct perf_event *event)
{
	if (!event->pmu_ctx ||
	    atomic_read(&event->pmu_ctx->refcount) - HTM_PMU_CONTEXT_REFERENCES <= 1)
		return;
	pr_notice_once("cannot be unloaded: a group has lost its leader\n");
	__module_get(THIS_MODULE);
}

static void vpa_dtl_event_destroy(struct perf_event *event)
{
	vpa_dtl_session_close(event->pmu_private);
	event->pmu_private = NULL;
	vpa_dtl_stay_for_orphans(event);
}

static int vpa_dtl_event_init(struct perf_event *event)
{
	struct vpa_dtl_session *session;
	int err;

	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	if (!perfmon_capable())
		return -EACCES;
	err = vpa_dtl_check(event);
	if (err)
		return err;
	session = vpa_dtl_session_open(event, event->attr.config);
	if (IS_ERR(session))
		return PTR_ERR(session);
	vpa_dtl_fix_period(event);
	event->pmu_private = session;
	event->destroy = vpa_dtl_event_destroy;
	return 0;
}

static int vpa_dtl_event_add(struct perf_event *event, int flags)
{
	return vpa_dtl_session_add(event->pmu_private);
}

static void vpa_dtl_event_del(struct perf_event *event, int flags)
{
	vpa_dtl_session_remove(event->pmu_private);
}

/* The core calls this after a new period, after throttling and for an aux_resume event. */
static void vpa_dtl_event_start(struct perf_event *event, int flags)
{
	if (flags & PERF_EF_RESUME)
		vpa_dtl_session_resume(event->pmu_private);
	else if (flags & PERF_EF_RELOAD)
		vpa_dtl_session_set_period(event->pmu_private);
}

/*
 * Only a pause stops the log. The core also stops events to change period or rings,
 * which requires that no look is in progress. That holds, because each look ends on
 * this CPU before the stop can run. The core also throttles a group whose members
 * sample too often; the log continues meanwhile, so no entry is lost.
 */
static void vpa_dtl_event_stop(struct perf_event *event, int flags)
{
	if (flags & PERF_EF_PAUSE)
		vpa_dtl_session_pause(event->pmu_private);
	else if (flags & PERF_EF_UPDATE)
		vpa_dtl_session_look(event->pmu_private);
}

static void vpa_dtl_event_read(struct perf_event *event)
{
	vpa_dtl_session_look(event->pmu_private);
}

static struct pmu vpa_dtl_pmu = {
	.module		= THIS_MODULE,
	.task_ctx_nr	= perf_invalid_context,
	.attr_groups	= vpa_dtl_attr_groups,
	.capabilities	= PERF_PMU_CAP_NO_EXCLUDE | PERF_PMU_CAP_EXCLUSIVE |
			  PERF_PMU_CAP_AUX_PAUSE,
	.event_init	= vpa_dtl_event_init,
	.add		= vpa_dtl_event_add,
	.del		= vpa_dtl_event_del,
	.start		= vpa_dtl_event_start,
	.stop		= vpa_dtl_event_stop,
	.read		= vpa_dtl_event_read,
	.setup_aux	= vpa_dtl_aux_setup,
	.free_aux	= vpa_dtl_aux_free,
};

static int __init vpa_dtl_load(void)
{
	if (!firmware_has_feature(FW_FEATURE_SPLPAR) || is_kvm_guest())
		return -ENODEV;
	/* Not EEXIST: modprobe would report the module as already loaded. */
	if (htm_pmu_exists(VPA_DTL_NAME)) {
		pr_err("another driver has the PMU " VPA_DTL_NAME "\n");
		pr_err("to use this one, boot with initcall_blacklist=vpa_dtl_init if the other is part of the kernel, or unload it\n");
		return -EBUSY;
	}
	vpa_dtl_clock_init();
	return perf_pmu_register(&vpa_dtl_pmu, VPA_DTL_NAME, -1);
}

static void __exit vpa_dtl_unload(void)
{
	perf_pmu_unregister(&vpa_dtl_pmu);
	/* vpa_dtl_aux_free() still runs a few instructions after its module_put(). */
	synchronize_rcu_tasks();
}

module_init(vpa_dtl_load);
module_exit(vpa_dtl_unload);

MODULE_DESCRIPTION("Dispatch trace log of virtual processors as a perf PMU, without silent losses");
MODULE_LICENSE("GPL");
