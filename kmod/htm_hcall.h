/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The H_HTM hypervisor call (PAPR): one request, its answer, and two ways to wait
 * for a busy hypervisor.
 */
#ifndef HTM_HCALL_H
#define HTM_HCALL_H

#include <linux/types.h>

/* Operations, the top 16 bits of the operation word (PAPR, H_HTM). */
enum htm_op {
	HTM_OP_NONE = 0,
	HTM_OP_CAPABILITIES = 0x01,
	HTM_OP_STATUS = 0x02,
	HTM_OP_CONFIGURE = 0x04,
	HTM_OP_START = 0x05,
	HTM_OP_STOP = 0x06,
	HTM_OP_DECONFIGURE = 0x07,
	HTM_OP_DUMP_DATA = 0x09,
	HTM_OP_DUMP_SYSMEM_CONF = 0x0a,
	HTM_OP_DUMP_SYSPROC_CONF = 0x0b,
};

/* Trace types (PAPR, H_HTM). */
enum htm_type {
	HTM_TYPE_ALL = 0,
	HTM_TYPE_NEST = 1,
	HTM_TYPE_CORE = 2,
	HTM_TYPE_LLAT = 3,
};

/* CONFIGURE: stop at the end of the trace memory, do not wrap. */
#define HTM_FLAG_NOWRAP		BIT_ULL(60)

/* CAPABILITIES always fills this many bytes. */
#define HTM_CAPABILITIES_SIZE	0x80

/**
 * struct htm_where - the trace macro that a request is for
 * @type: &enum htm_type
 * @node: node index
 * @chip: chip in the node
 * @core: core on the chip
 */
struct htm_where {
	u8 type;
	u8 node;
	u8 chip;
	u8 core;
};

/**
 * struct htm_request - one hypervisor call
 * @where: the trace macro
 * @op: the operation
 * @flags: HTM_FLAG_NOWRAP or 0
 * @arg: parameters 1 to 3 of the operation
 */
struct htm_request {
	struct htm_where where;
	enum htm_op op;
	u64 flags;
	u64 arg[3];
};

long htm_hcall(const struct htm_request *req);
long htm_hcall_atomic(const struct htm_request *req);
int htm_hcall_sleep(const struct htm_request *req, bool killable, long *rc);

bool htm_is_busy(long rc);
u64 htm_busy_ns(long rc);
int htm_errno(long rc);
void htm_log_refusal(const struct htm_where *where, enum htm_op op, long rc);

#endif /* HTM_HCALL_H */
