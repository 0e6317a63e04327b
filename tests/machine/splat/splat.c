// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Everything that the debug kernel is there to find, done on purpose: a test
 * that never failed has shown nothing. The module does not stay loaded.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

static DEFINE_MUTEX(splat_a);
static DEFINE_MUTEX(splat_b);
static DEFINE_SPINLOCK(splat_spin);

/* What the compiler cannot know, so that it leaves the bug in. */
static volatile int splat_size = 32;

static void splat_out_of_bounds(void)
{
	char *bytes = kmalloc(splat_size, GFP_KERNEL);

	if (!bytes)
		return;
	((volatile char *)bytes)[splat_size] = 1;
	kfree(bytes);
}

static void splat_shift(void)
{
	pr_info("splat: %d\n", 1 << (splat_size + 8));
}

static void splat_leak(void)
{
	void *lost = kmalloc(splat_size * 2, GFP_KERNEL);

	pr_info("splat: %d\n", !lost);
}

static void splat_sleep(void)
{
	spin_lock(&splat_spin);
	usleep_range(10, 20);
	spin_unlock(&splat_spin);
}

static void splat_lock_order(void)
{
	mutex_lock(&splat_a);
	mutex_lock(&splat_b);
	mutex_unlock(&splat_b);
	mutex_unlock(&splat_a);

	mutex_lock(&splat_b);
	mutex_lock(&splat_a);
	mutex_unlock(&splat_a);
	mutex_unlock(&splat_b);
}

static int __init splat_init(void)
{
	splat_out_of_bounds();
	splat_shift();
	splat_leak();
	/* Last, for lockdep falls silent after its first finding. */
	splat_lock_order();
	splat_sleep();
	return -ECANCELED;
}
module_init(splat_init);

MODULE_DESCRIPTION("Deliberate bugs, to see that the debug kernel finds them");
MODULE_LICENSE("GPL");
