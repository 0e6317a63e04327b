/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who uses a Hardware Trace Macro: the htm PMU, or htmdump. */
#ifndef _ASM_POWERPC_HTM_CLAIM_H
#define _ASM_POWERPC_HTM_CLAIM_H

#include <linux/types.h>

enum htm_claimant {
	HTM_CLAIMANT_PMU,
	HTM_CLAIMANT_HTMDUMP,
};

int htm_claim(u32 type, u32 node, u32 chip, u32 core, enum htm_claimant claimant);
void htm_unclaim(u32 type, u32 node, u32 chip, u32 core, enum htm_claimant claimant);

#endif /* _ASM_POWERPC_HTM_CLAIM_H */
