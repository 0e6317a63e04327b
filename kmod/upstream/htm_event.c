// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The htm PMU: which events it refuses, that a macro is opened once, and that a
 * trace arrives with its begin and its end announced.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "utils.h"

#define PMU_TYPE	"/sys/bus/event_source/devices/htm/type"
#define CORE_TRACE	2
#define AUX_SIZE	(1024 * 1024)
#define MOST_READS	100000

/* Kinds of announcement, bits 56-63. */
#define TRACE_BEGIN	1
#define TRACE_END	2

static struct perf_event_attr attr = {
	.size = sizeof(attr),
	.config = CORE_TRACE,
	.sample_period = 1,
	.sample_type = PERF_SAMPLE_RAW,
	.disabled = 1,
	.pinned = 1,
};

static int open_on(int cpu)
{
	return syscall(__NR_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Consume the data ring, and mark the kinds of its announcements in @seen. */
static void consume(struct perf_event_mmap_page *page, unsigned char *seen)
{
	const char *data = (const char *)page + page->data_offset;
	__u64 head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	__u64 at = page->data_tail;

	while (at < head) {
		struct perf_event_header record;
		__u64 id;

		/* Records are multiples of 8 bytes, so neither part wraps. */
		memcpy(&record, data + at % page->data_size, sizeof(record));
		if (record.type == PERF_RECORD_AUX_OUTPUT_HW_ID) {
			memcpy(&id, data + (at + sizeof(record)) % page->data_size, sizeof(id));
			seen[id >> 56] = 1;
		}
		at += record.size;
	}
	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
	__atomic_store_n(&page->aux_tail, page->aux_head, __ATOMIC_RELEASE);
}

static int refusals(void)
{
	attr.freq = 1;
	FAIL_IF(open_on(0) >= 0 || errno != EINVAL);
	attr.freq = 0;
	attr.config = 0xf;
	FAIL_IF(open_on(0) >= 0 || errno != EINVAL);
	attr.config = CORE_TRACE;
	attr.inherit = 1;
	FAIL_IF(open_on(0) >= 0 || errno != EOPNOTSUPP);
	attr.inherit = 0;
	return 0;
}

static int trace(void)
{
	size_t data_size = (1 + 64) * sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *page;
	unsigned char seen[256] = { 0 };
	__u64 value = 1;
	int fd = open_on(0);

	/* The partition may not be allowed to trace this core. */
	SKIP_IF(fd < 0 && (errno == EPERM || errno == EBUSY || errno == ENXIO || errno == ENODEV));
	FAIL_IF(fd < 0);
	FAIL_IF(open_on(0) >= 0 || errno != EBUSY);

	page = mmap(NULL, data_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	FAIL_IF(page == MAP_FAILED);
	page->aux_offset = data_size;
	page->aux_size = AUX_SIZE;
	FAIL_IF(mmap(NULL, AUX_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, data_size) ==
		MAP_FAILED);

	FAIL_IF(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	usleep(10000);
	for (int i = 0; value && i < MOST_READS; i++) {
		FAIL_IF(read(fd, &value, sizeof(value)) != sizeof(value));
		consume(page, seen);
	}
	FAIL_IF(value);
	FAIL_IF(!page->aux_head);
	FAIL_IF(!seen[TRACE_BEGIN] || !seen[TRACE_END]);
	close(fd);
	return 0;
}

static int htm_event(void)
{
	unsigned long type;
	int err;

	SKIP_IF(geteuid());
	SKIP_IF(read_ulong(PMU_TYPE, &type, 10));
	attr.type = type;
	err = refusals();
	return err ? err : trace();
}

int main(void)
{
	return test_harness(htm_event, "htm_event");
}
