// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A trace macro has one configuration and one trace memory. Two drivers can use
 * it, the htm PMU and htmdump; each claims a macro before it configures it.
 */
#include <linux/cleanup.h>
#include <linux/export.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <asm/htm-claim.h>
#include <asm/hvcall.h>

/**
 * struct htm_claimed - a macro that a driver uses
 * @entry: entry of the list
 * @macro: type, node, chip and core
 * @claimant: the driver
 */
struct htm_claimed {
	struct list_head entry;
	u32 macro[4];
	enum htm_claimant claimant;
};

static LIST_HEAD(htm_claims);
static DEFINE_MUTEX(htm_claims_lock);

static struct htm_claimed *htm_claims_find(u32 type, u32 node, u32 chip, u32 core)
{
	struct htm_claimed *claim;

	list_for_each_entry(claim, &htm_claims, entry) {
		/* A nest macro is one per chip: any core index means the same. */
		if (claim->macro[0] == type && claim->macro[1] == node &&
		    claim->macro[2] == chip &&
		    (claim->macro[3] == core || type == H_HTM_TYPE_NEST))
			return claim;
	}
	return NULL;
}

/**
 * htm_claim() - claim a trace macro for a driver
 * @type: trace type, as for H_HTM
 * @node: node index
 * @chip: chip in the node
 * @core: core on the chip
 * @claimant: the driver
 *
 * Return: 1 if the macro was free, 0 if @claimant has it already, -EBUSY if the
 * other driver has it, or -ENOMEM.
 */
int htm_claim(u32 type, u32 node, u32 chip, u32 core, enum htm_claimant claimant)
{
	struct htm_claimed *claim;

	guard(mutex)(&htm_claims_lock);
	claim = htm_claims_find(type, node, chip, core);
	if (claim)
		return claim->claimant == claimant ? 0 : -EBUSY;
	claim = kmalloc_obj(*claim);
	if (!claim)
		return -ENOMEM;
	*claim = (struct htm_claimed){
		.macro = { type, node, chip, core },
		.claimant = claimant,
	};
	list_add(&claim->entry, &htm_claims);
	return 1;
}
EXPORT_SYMBOL_GPL(htm_claim);

/**
 * htm_unclaim() - give a trace macro back, if the driver has claimed it
 * @type: trace type, as for H_HTM
 * @node: node index
 * @chip: chip in the node
 * @core: core on the chip
 * @claimant: the driver
 */
void htm_unclaim(u32 type, u32 node, u32 chip, u32 core, enum htm_claimant claimant)
{
	struct htm_claimed *claim;

	guard(mutex)(&htm_claims_lock);
	claim = htm_claims_find(type, node, chip, core);
	if (!claim || claim->claimant != claimant)
		return;
	list_del(&claim->entry);
	kfree(claim);
}
EXPORT_SYMBOL_GPL(htm_unclaim);
