// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A macro belongs to the machine. It stays configured after the kernel that configured
 * it has stopped, and the next kernel would find it in use. So the driver releases
 * all macros at power-off, reboot and kexec. When the kernel panics, and before a
 * crash kernel starts, the driver tries to release them without a long wait.
 *
 * A partition that has moved to another machine (live migration) has no macro
 * there: the old indices mean macros of other partitions. The driver detects the
 * move when the platform changes the machine's identity in the device tree. The
 * partition already runs there at this time; calls in between cannot be prevented.
 */
#include <linux/elf.h>
#include <linux/kexec.h>
#include <linux/notifier.h>
#include <linux/of.h>
#include <linux/panic_notifier.h>
#include <linux/reboot.h>
#include <linux/string.h>
#ifndef HTM_IN_TREE
#include <asm/kexec.h>
#endif

#include "htm_shutdown.h"
#include "htm_target.h"

static int htm_reboot(struct notifier_block *block, unsigned long action, void *data)
{
	htm_target_release_all();
	return NOTIFY_DONE;
}

static struct notifier_block htm_reboot_notifier = {
	.notifier_call = htm_reboot,
};

static void htm_crash(void)
{
	htm_target_abandon_all();
}

static int htm_panic(struct notifier_block *block, unsigned long action, void *data)
{
	htm_crash();
	return NOTIFY_DONE;
}

static struct notifier_block htm_panic_notifier = {
	.notifier_call = htm_panic,
};

/* PAPR: the root node's system-id names the machine. */
static int htm_device_tree(struct notifier_block *block, unsigned long action, void *data)
{
	const struct of_reconfig_data *change = data;

	if (action == OF_RECONFIG_UPDATE_PROPERTY && change->dn == of_root &&
	    !strcmp(change->prop->name, "system-id"))
		htm_target_lose_all();
	return NOTIFY_DONE;
}

static struct notifier_block htm_device_tree_notifier = {
	.notifier_call = htm_device_tree,
};

int htm_shutdown_init(void)
{
	int err = register_reboot_notifier(&htm_reboot_notifier);

	if (err)
		return err;
	err = of_reconfig_notifier_register(&htm_device_tree_notifier);
	if (err) {
		unregister_reboot_notifier(&htm_reboot_notifier);
		return err;
	}
	atomic_notifier_chain_register(&panic_notifier_list, &htm_panic_notifier);
#ifdef CONFIG_CRASH_DUMP
	/* The kernel has few slots for crash handlers. All else works without a slot. */
	crash_shutdown_register(htm_crash);
#endif
	return 0;
}

void htm_shutdown_exit(void)
{
#ifdef CONFIG_CRASH_DUMP
	crash_shutdown_unregister(htm_crash);
#endif
	atomic_notifier_chain_unregister(&panic_notifier_list, &htm_panic_notifier);
	of_reconfig_notifier_unregister(&htm_device_tree_notifier);
	unregister_reboot_notifier(&htm_reboot_notifier);
}
