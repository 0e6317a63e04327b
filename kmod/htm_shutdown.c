// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A macro belongs to the machine and stays configured when the kernel that did it
 * is gone: the next one would find it held. So macros are released at power-off,
 * reboot and kexec, and, as far as that is possible without waiting for long, when
 * the kernel panics and before a crash kernel starts.
 *
 * A partition that has moved to another machine (live migration) has no macro
 * there: what it calls by the old indices is somebody else's. The sign is that the
 * platform changes the identity of the machine in the device tree. It does so
 * when the partition already runs there; calls in between cannot be prevented.
 */
#include <linux/elf.h>
#include <linux/kexec.h>
#include <linux/notifier.h>
#include <linux/of.h>
#include <linux/panic_notifier.h>
#include <linux/reboot.h>
#include <linux/string.h>
#include <asm/kexec.h>

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
	/* There are few places for these. Without one the rest still works. */
	crash_shutdown_register(htm_crash);
	return 0;
}

void htm_shutdown_exit(void)
{
	crash_shutdown_unregister(htm_crash);
	atomic_notifier_chain_unregister(&panic_notifier_list, &htm_panic_notifier);
	of_reconfig_notifier_unregister(&htm_device_tree_notifier);
	unregister_reboot_notifier(&htm_reboot_notifier);
}
