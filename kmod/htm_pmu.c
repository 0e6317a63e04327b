// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The perf PMU "htm": Hardware Trace Macro of a POWER processor, for Linux in
 * a logical partition. ABI describes the interface to user space.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitfield.h>
#include <linux/capability.h>
#include <linux/cpu.h>
#include <linux/io.h>
#ifdef HTM_IN_TREE
#include <linux/init.h>
#else
#include <linux/module.h>
#endif
#include <linux/perf_event.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/stringify.h>
#include <asm/firmware.h>
#include <asm/hvcall.h>
#include <asm/kvm_guest.h>

#include "htm_compat.h"
#include "htm_info.h"
#include "htm_namesake.h"
#include "htm_orphans.h"
#include "htm_session.h"
#include "htm_shutdown.h"

/* Terms of attr.config: first and last bit, for sysfs and for this file. */
#define HTM_EVENT_LO	0
#define HTM_EVENT_HI	27
#define HTM_TYPE_LO	0
#define HTM_TYPE_HI	3
#define HTM_NODE_LO	4
#define HTM_NODE_HI	11
#define HTM_CHIP_LO	12
#define HTM_CHIP_HI	19
#define HTM_CORE_LO	20
#define HTM_CORE_HI	27

/* Terms of attr.config1. Only this driver has them. */
#define HTM_WRAP_BIT	0

#define HTM_FORMAT(term)						\
	"config:" __stringify(HTM_##term##_LO) "-" __stringify(HTM_##term##_HI)
#define HTM_MASK(term)							\
	GENMASK_ULL(HTM_##term##_HI, HTM_##term##_LO)
#define HTM_WRAP	BIT_ULL(HTM_WRAP_BIT)

/* All fields except the raw data have a fixed size, so a block of the map fits a record. */
#define HTM_SAMPLE_TYPES						\
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |	\
	 PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |	\
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW)

PMU_FORMAT_ATTR(event, HTM_FORMAT(EVENT));
PMU_FORMAT_ATTR(htm_type, HTM_FORMAT(TYPE));
PMU_FORMAT_ATTR(nodeindex, HTM_FORMAT(NODE));
PMU_FORMAT_ATTR(nodalchipindex, HTM_FORMAT(CHIP));
PMU_FORMAT_ATTR(coreindexonchip, HTM_FORMAT(CORE));
PMU_FORMAT_ATTR(wrap, "config1:" __stringify(HTM_WRAP_BIT));

static struct attribute *htm_format_attrs[] = {
	&format_attr_event.attr,
	&format_attr_htm_type.attr,
	&format_attr_nodeindex.attr,
	&format_attr_nodalchipindex.attr,
	&format_attr_coreindexonchip.attr,
	&format_attr_wrap.attr,
	NULL
};

static const struct attribute_group htm_format_group = {
	.name = "format",
	.attrs = htm_format_attrs,
};

PMU_EVENT_ATTR_STRING(htm_nest, htm_event_nest, "event=0x01");
PMU_EVENT_ATTR_STRING(htm_core, htm_event_core, "event=0x02");
PMU_EVENT_ATTR_STRING(htm_llat, htm_event_llat, "event=0x03");

static struct attribute *htm_event_attrs[] = {
	&htm_event_nest.attr.attr,
	&htm_event_core.attr.attr,
	&htm_event_llat.attr.attr,
	NULL
};

static const struct attribute_group htm_events_group = {
	.name = "events",
	.attrs = htm_event_attrs,
};

static const struct attribute_group *htm_attr_groups[] = {
	&htm_format_group,
	&htm_events_group,
	&htm_info_group,
	NULL
};

/* Refuse features that the hardware or this driver does not have. */
static int htm_check_unsupported(const struct perf_event_attr *attr)
{
	if (attr->inherit || attr->precise_ip || attr->aux_output)
		return -EOPNOTSUPP;
	if (attr->sample_type & ~HTM_SAMPLE_TYPES)
		return -EOPNOTSUPP;
	/* An AUX area and samples deliver the trace, so only sampling works. */
	if (!attr->freq && !attr->sample_period)
		return -EOPNOTSUPP;
	return 0;
}

/* Refuse contradictory attributes, and attributes without a meaning for this PMU. */
static int htm_check_invalid(struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	if (attr->freq || attr->write_backward || event_has_any_exclude_flag(event))
		return -EINVAL;
	if (attr->config & ~HTM_MASK(EVENT) || attr->config1 & ~HTM_WRAP ||
	    htm_attr_has_spare_config(attr))
		return -EINVAL;
	/* Only other events of the group can pause this one. */
	if (htm_attr_pauses_another(attr))
		return -EINVAL;
	if (event->cpu < 0 || event->attach_state & PERF_ATTACH_TASK)
		return -EINVAL;
	/* For a group member, the core would hold the leader's lock while CONFIGURE waits. */
	if (event->group_leader != event)
		return -EINVAL;
	return 0;
}

static int htm_parse_config(u64 config, struct htm_where *where)
{
	*where = (struct htm_where){
		.type = FIELD_GET(HTM_MASK(TYPE), config),
		.node = FIELD_GET(HTM_MASK(NODE), config),
		.chip = FIELD_GET(HTM_MASK(CHIP), config),
		.core = FIELD_GET(HTM_MASK(CORE), config),
	};

	switch (where->type) {
	case HTM_TYPE_NEST:
		/* A chip has one nest macro, whatever the core index. */
		where->core = 0;
		return 0;
	case HTM_TYPE_CORE:
	case HTM_TYPE_LLAT:
		return 0;
	}
	return -EINVAL;
}

static void htm_event_destroy(struct perf_event *event)
{
	htm_session_close(event->pmu_private);
	event->pmu_private = NULL;
#ifndef HTM_IN_TREE
	htm_orphans_look(event);
#endif
}

static int htm_event_init(struct perf_event *event)
{
	struct htm_session *session;
	struct htm_where where;
	int err;

	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	if (!perfmon_capable())
		return -EACCES;
	err = htm_check_unsupported(&event->attr);
	if (!err)
		err = htm_check_invalid(event);
	if (!err)
		err = htm_parse_config(event->attr.config, &where);
	if (err)
		return err;
	if (!cpu_online(event->cpu))
		return -ENODEV;

	session = htm_session_open(event, &where, event->attr.config1 & HTM_WRAP);
	if (IS_ERR(session))
		return PTR_ERR(session);
	event->pmu_private = session;
	event->destroy = htm_event_destroy;
	event->hw.state = PERF_HES_STOPPED;
	return 0;
}

static int htm_event_add(struct perf_event *event, int flags)
{
	event->hw.state = PERF_HES_STOPPED;
	if (!(flags & PERF_EF_START))
		return 0;
	event->hw.state = 0;
	return htm_session_add(event->pmu_private);
}

static void htm_event_start(struct perf_event *event, int flags)
{
	struct htm_session *session = event->pmu_private;

	if (flags & PERF_EF_RESUME) {
		/* No announcement: the resuming member has just written its sample. */
		htm_macro_resume(&session->macro);
		return;
	}
	event->hw.state = 0;
	htm_session_continue(session);
}

/*
 * Every stop stops the macro, whatever its flags, because the AUX area may be
 * unmapped next. The core sets PERF_EF_UPDATE to change rings, but not to throttle.
 */
static void htm_event_stop(struct perf_event *event, int flags)
{
	struct htm_session *session = event->pmu_private;

	if (flags & PERF_EF_PAUSE) {
		/* No announcement: the pausing member is writing its sample. */
		htm_macro_pause(&session->macro);
		return;
	}
	htm_session_interrupt(session, flags & PERF_EF_UPDATE ? HTM_WHY_RINGS :
								HTM_WHY_THROTTLED);
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

/*
 * The macro stays configured and keeps its trace until the event is freed. The core
 * does not call the driver for a read of a removed event: such a read gives 0 and
 * delivers no data.
 */
static void htm_event_del(struct perf_event *event, int flags)
{
	htm_session_remove(event->pmu_private);
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	local64_set(&event->count, 0);
}

static void htm_event_read(struct perf_event *event)
{
	u64 value;

	if (htm_session_read(event->pmu_private, &value))
		local64_set(&event->count, value);
}

/* The period has no meaning; changing it would interrupt the trace. */
static int htm_event_check_period(struct perf_event *event, u64 value)
{
	return -EINVAL;
}

static struct pmu htm_pmu = {
#ifndef HTM_IN_TREE
	.module		= THIS_MODULE,
#endif
	.task_ctx_nr	= perf_invalid_context,
	.attr_groups	= htm_attr_groups,
	/*
	 * PREFER_LARGE: the AUX area may consist of single pages, but larger blocks
	 * need fewer hypervisor calls. EXCLUSIVE: one event per CPU prevents an
	 * accidental open on all CPUs.
	 */
	.capabilities	= PERF_PMU_CAP_NO_EXCLUDE | PERF_PMU_CAP_EXCLUSIVE |
			  PERF_PMU_CAP_AUX_PREFER_LARGE | PERF_PMU_CAP_AUX_PAUSE,
	.event_init	= htm_event_init,
	.add		= htm_event_add,
	.del		= htm_event_del,
	.start		= htm_event_start,
	.stop		= htm_event_stop,
	.read		= htm_event_read,
	.check_period	= htm_event_check_period,
	.setup_aux	= htm_aux_setup,
	.free_aux	= htm_aux_free,
};

/* Any answer but "no such call" means that the firmware knows H_HTM. */
static int __init htm_probe(void)
{
	struct htm_request req = {
		.where = { .type = HTM_TYPE_CORE },
		.op = HTM_OP_CAPABILITIES,
	};
	void *buffer;
	long rc;

	if (!firmware_has_feature(FW_FEATURE_LPAR) || is_kvm_guest())
		return -ENODEV;

	buffer = kzalloc(HTM_CAPABILITIES_SIZE, GFP_KERNEL);
	if (!buffer)
		return -ENOMEM;
	req.arg[0] = virt_to_phys(buffer);
	req.arg[1] = HTM_CAPABILITIES_SIZE;
	rc = htm_hcall(&req);
	kfree(buffer);
	return rc == H_FUNCTION ? -ENODEV : 0;
}

static int __init htm_init(void)
{
	int err = htm_probe();

	if (err)
		return err;
#ifndef HTM_IN_TREE
	/* Not EEXIST: modprobe would report the module as already loaded. */
	if (htm_pmu_exists("htm")) {
		pr_err("another driver has the PMU htm; htmtrace works with that driver\n");
		return -EBUSY;
	}
#endif
	err = htm_macro_init();
	if (err)
		return err;
	err = htm_shutdown_init();
	if (err)
		goto exit_macro;
	err = perf_pmu_register(&htm_pmu, "htm", -1);
	if (!err)
		return 0;
	htm_shutdown_exit();
exit_macro:
	htm_macro_exit();
	return err;
}

#ifdef HTM_IN_TREE
device_initcall(htm_init);
#else
static void __exit htm_exit(void)
{
	perf_pmu_unregister(&htm_pmu);
	/* htm_aux_free() still runs for a few instructions after its module_put(). */
	synchronize_rcu_tasks();
	htm_macro_exit();
	htm_shutdown_exit();
	htm_target_forget_all();
}

module_init(htm_init);
module_exit(htm_exit);

MODULE_DESCRIPTION("Hardware Trace Macro of POWER processors as a perf PMU");
MODULE_LICENSE("GPL");
#endif
