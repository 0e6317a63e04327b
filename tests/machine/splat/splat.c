// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Deliberate bugs of every kind that the debug kernel must find. They show that
 * the kernel's checks work. The module does not stay loaded.
 */
#include <linux/io.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/panic.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <asm/hvcall.h>

/* H_HTM, and its operation CAPABILITIES for core traces (PAPR). */
#define SPLAT_HCALL		0x458
#define SPLAT_CAPABILITIES	(1ULL << 48 | 2ULL << 32)

static DEFINE_MUTEX(splat_a);
static DEFINE_MUTEX(splat_b);
static DEFINE_SPINLOCK(splat_spin);

static bool splat_crash;
module_param_named(crash, splat_crash, bool, 0);
MODULE_PARM_DESC(crash, "panic, and nothing else");

/* A value that the compiler cannot know, so that it does not remove the bug. */
static volatile int splat_size = 32;

/* Beyond the requested size, but inside the allocation, and therefore harmless. */
static noinline void splat_out_of_bounds(void)
{
	char *bytes = kmalloc(splat_size - 4, GFP_KERNEL);

	if (!bytes)
		return;
	((volatile char *)bytes)[splat_size - 4] = 1;
	kfree(bytes);
}

/* CAPABILITIES writes 0x80 bytes. KASAN does not see the hypervisor's writes. */
static noinline void splat_hypervisor(void)
{
	char *bytes = kmalloc(splat_size * 4 - 8, GFP_KERNEL);
	long rc;

	if (!bytes)
		return;
	rc = plpar_hcall_norets(SPLAT_HCALL, 1ULL << 63, 0, SPLAT_CAPABILITIES,
				virt_to_phys(bytes), 0x80, 0);
	pr_info("splat: CAPABILITIES %ld\n", rc);
	kfree(bytes);
}

static noinline void splat_shift(void)
{
	pr_info("splat: %d\n", 1 << (splat_size + 8));
}

/* Many objects: kmemleak misses an object whose address is left on any stack. */
static noinline void splat_leak(void)
{
	int failed = 0;

	for (int i = 0; i < splat_size; i++)
		failed += !kmalloc(splat_size * 2, GFP_KERNEL);
	pr_info("splat: lost: %d failed\n", failed);
}

static noinline void splat_sleep(void)
{
	spin_lock(&splat_spin);
	/* This call does not sleep, but declares that it may sleep. */
	might_sleep();
	spin_unlock(&splat_spin);
}

static noinline void splat_lock_order(void)
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
	if (splat_crash)
		panic("splat: as requested");
	/* The order matters: lockdep stops after a finding about memory or locks. */
	splat_sleep();
	splat_lock_order();
	splat_shift();
	splat_leak();
	splat_hypervisor();
	splat_out_of_bounds();
	return -ECANCELED;
}
module_init(splat_init);

MODULE_DESCRIPTION("Deliberate bugs, to see that the debug kernel finds them");
MODULE_LICENSE("GPL");
