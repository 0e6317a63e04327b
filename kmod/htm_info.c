// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The hypervisor's lists about the machine, as files in sysfs. Reads run in process
 * context, so they wait for a busy hypervisor. No open event is involved.
 *
 * The permission is the same as for an event: CAP_PERFMON. Everyone can open the
 * files, and each read checks the credentials of the opener.
 */
#include <linux/capability.h>
#include <linux/cleanup.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/io.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/user_namespace.h>
#include <asm/hvcall.h>

#include "htm_block.h"
#include "htm_compat.h"
#include "htm_info.h"
#include "htm_target.h"

/**
 * struct htm_bookmark - the start of a block in the file of its list
 * @at: offset in the file
 * @iterator: iterator for the request of the block
 */
struct htm_bookmark {
	loff_t at;
	u64 iterator;
};

/**
 * struct htm_list - a file that holds a list
 * @op: the operation that returns the list
 * @type: type of the macros in the list
 * @entry_size: bytes of an entry
 * @bookmark: position of the latest read; the next read continues there instead of
 *	at the first block
 */
struct htm_list {
	enum htm_op op;
	enum htm_type type;
	u32 entry_size;
	struct htm_bookmark bookmark;
};

static DEFINE_SPINLOCK(htm_bookmarks_lock);

static struct htm_list htm_status_nest = {
	.op = HTM_OP_STATUS,
	.type = HTM_TYPE_NEST,
	.entry_size = HTM_OTHER_STATUS_ENTRY,
};

static struct htm_list htm_status_core = {
	.op = HTM_OP_STATUS,
	.type = HTM_TYPE_CORE,
	.entry_size = HTM_CORE_STATUS_ENTRY,
};

static struct htm_list htm_status_llat = {
	.op = HTM_OP_STATUS,
	.type = HTM_TYPE_LLAT,
	.entry_size = HTM_OTHER_STATUS_ENTRY,
};

static struct htm_list htm_topology = {
	.op = HTM_OP_DUMP_SYSPROC_CONF,
	.type = HTM_TYPE_CORE,
	.entry_size = HTM_PROCESSOR_ENTRY,
};

static struct htm_list htm_memory_map = {
	.op = HTM_OP_DUMP_SYSMEM_CONF,
	.type = HTM_TYPE_ALL,
	.entry_size = HTM_MEMORY_ENTRY,
};

static bool htm_info_is_allowed(const struct file *file)
{
	return file_ns_capable(file, &init_user_ns, CAP_PERFMON) ||
	       file_ns_capable(file, &init_user_ns, CAP_SYS_ADMIN);
}

/* Request one block. Return: 0 or an errno. After the end, @block has size 0. */
static int htm_list_fetch(const struct htm_list *list, u64 iterator, void *bytes,
			  struct htm_block *block)
{
	struct htm_request req = {
		.where = htm_target_example(list->type),
		.op = list->op,
		.arg = { virt_to_phys(bytes), HTM_BLOCK_LENGTH_MAX, iterator },
	};
	long rc;
	int err;

	memset(bytes, 0, HTM_BLOCK_LENGTH_MAX);
	err = htm_hcall_sleep(&req, true, &rc);
	if (rc == H_NOT_AVAILABLE)
		err = 0;
	if (!err)
		*block = htm_block_parse(bytes, HTM_BLOCK_LENGTH_MAX, list->entry_size, iterator);
	return err;
}

/* Find the block that holds @pos, starting at @mark, and copy from this block. */
static ssize_t htm_list_copy(const struct htm_list *list, struct htm_bookmark *mark, void *bytes,
			     char *to, loff_t pos, size_t count)
{
	for (;;) {
		struct htm_block block;
		int err = htm_list_fetch(list, mark->iterator, bytes, &block);

		if (err)
			return err;
		if (pos < mark->at + block.size) {
			count = min_t(u64, count, mark->at + block.size - pos);
			memcpy(to, bytes + (pos - mark->at), count);
			return count;
		}
		if (block.last)
			return 0;
		mark->at += block.size;
		mark->iterator = block.next;
		/* A signal ends the read of a list that has no end. */
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
}

static ssize_t htm_list_read(struct file *file, struct kobject *kobj, HTM_BIN_ATTRIBUTE *attr,
			     char *to, loff_t pos, size_t count)
{
	struct htm_list *list = attr->private;
	struct htm_bookmark mark = {};
	void *bytes;
	ssize_t n;

	if (!htm_info_is_allowed(file))
		return -EACCES;
	bytes = kzalloc(HTM_BLOCK_ALLOC, GFP_KERNEL);
	if (!bytes)
		return -ENOMEM;
	scoped_guard(spinlock, &htm_bookmarks_lock) {
		if (pos && list->bookmark.at <= pos)
			mark = list->bookmark;
	}
	n = htm_list_copy(list, &mark, bytes, to, pos, count);
	scoped_guard(spinlock, &htm_bookmarks_lock)
		list->bookmark = mark;
	kfree(bytes);
	return n;
}

static ssize_t htm_capabilities_read(struct file *file, struct kobject *kobj,
				     HTM_BIN_ATTRIBUTE *attr, char *to, loff_t pos, size_t count)
{
	struct htm_request req = { .op = HTM_OP_CAPABILITIES };
	void *bytes;
	ssize_t n;
	long rc;

	if (!htm_info_is_allowed(file))
		return -EACCES;
	bytes = kzalloc(HTM_CAPABILITIES_SIZE, GFP_KERNEL);
	if (!bytes)
		return -ENOMEM;
	req.where = htm_target_example(HTM_TYPE_CORE);
	req.arg[0] = virt_to_phys(bytes);
	req.arg[1] = HTM_CAPABILITIES_SIZE;
	n = htm_hcall_sleep(&req, true, &rc);
	if (!n)
		n = memory_read_from_buffer(to, count, &pos, bytes, HTM_CAPABILITIES_SIZE);
	kfree(bytes);
	return n;
}

/* Programs read a file without a size until read(2) returns 0. */
#define HTM_LIST_FILE(_name, _list)					\
	static HTM_BIN_ATTRIBUTE bin_attr_##_name = {			\
		.attr = { .name = #_name, .mode = 0444 },		\
		.private = _list,					\
		.read = htm_list_read,					\
	}

HTM_LIST_FILE(status_nest, &htm_status_nest);
HTM_LIST_FILE(status_core, &htm_status_core);
HTM_LIST_FILE(status_llat, &htm_status_llat);
HTM_LIST_FILE(topology, &htm_topology);
HTM_LIST_FILE(memory_map, &htm_memory_map);

static HTM_BIN_ATTRIBUTE bin_attr_capabilities =
	__BIN_ATTR(capabilities, 0444, htm_capabilities_read, NULL, HTM_CAPABILITIES_SIZE);

static HTM_BIN_ATTRIBUTE_LIST htm_info_files[] = {
	&bin_attr_capabilities,
	&bin_attr_status_nest,
	&bin_attr_status_core,
	&bin_attr_status_llat,
	&bin_attr_topology,
	&bin_attr_memory_map,
	NULL
};

const struct attribute_group htm_info_group = {
	.bin_attrs = htm_info_files,
};
