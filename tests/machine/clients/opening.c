// SPDX-License-Identifier: GPL-2.0-or-later
// opening - checks which events a client can open, and the required capabilities. Each check is a
// sentence of kmod/ABI. The test needs three processors; core 4 of chip 1 is processor 1.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/machine/clients/group.h"
#include "tests/machine/clients/tap.h"
#include "tests/machine/clients/traced_core.h"

// ------------------------------------------------------------------------------- opening

static void set_inherit(struct perf_event_attr* attr) {
  attr->inherit = 1;
}
static void set_counting(struct perf_event_attr* attr) {
  attr->sample_period = 0;
}
static void set_precise(struct perf_event_attr* attr) {
  attr->precise_ip = 1;
}
static void set_aux_output(struct perf_event_attr* attr) {
  attr->aux_output = 1;
}
static void set_callchain(struct perf_event_attr* attr) {
  attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
}
static void set_read(struct perf_event_attr* attr) {
  attr->sample_type |= PERF_SAMPLE_READ;
}
static void set_freq(struct perf_event_attr* attr) {
  attr->freq = 1;
}
static void set_exclude(struct perf_event_attr* attr) {
  attr->exclude_kernel = 1;
}
static void set_backward(struct perf_event_attr* attr) {
  attr->write_backward = 1;
}
static void set_bad_type(struct perf_event_attr* attr) {
  attr->config |= 15;
}
static void set_config(struct perf_event_attr* attr) {
  attr->config |= 1 << 28;
}
static void set_config1(struct perf_event_attr* attr) {
  attr->config1 = 2;
}
static void set_config2(struct perf_event_attr* attr) {
  attr->config2 = 1;
}
static void set_pause(struct perf_event_attr* attr) {
  set_aux_action(attr, kPause);
}
static void set_resume(struct perf_event_attr* attr) {
  set_aux_action(attr, kResume);
}

static const struct {
  const char* what;
  void (*set)(struct perf_event_attr*);
  int error;
} bad_attrs[] = {
    {"inherit", set_inherit, EOPNOTSUPP},
    {"no sample_period", set_counting, EOPNOTSUPP},
    {"precise_ip", set_precise, EOPNOTSUPP},
    {"aux_output", set_aux_output, EOPNOTSUPP},
    {"call chains", set_callchain, EOPNOTSUPP},
    {"PERF_SAMPLE_READ", set_read, EOPNOTSUPP},
    {"freq", set_freq, EINVAL},
    {"exclude_kernel", set_exclude, EINVAL},
    {"write_backward", set_backward, EINVAL},
    {"an unknown htm_type", set_bad_type, EINVAL},
    {"bit 28 of config", set_config, EINVAL},
    {"bit 1 of config1", set_config1, EINVAL},
    {"config2", set_config2, EINVAL},
    {"aux_pause on the event itself", set_pause, EINVAL},
    {"aux_resume on the event itself", set_resume, EINVAL},
};

static void open_badly(void) {
  const int64_t before = control("calls CONFIGURE");
  for (size_t i = 0; i < sizeof(bad_attrs) / sizeof(bad_attrs[0]); i++) {
    struct perf_event_attr attr = client_attr(CORE);
    bad_attrs[i].set(&attr);
    const int got = open_event(&attr, -1, kCarrier, -1);
    tap(got == -bad_attrs[i].error, "%s: %s (%d)", bad_attrs[i].what,
        strerrorname_np(bad_attrs[i].error), got);
  }
  const struct perf_event_attr attr = client_attr(CORE);
  tap(open_event(&attr, 0, -1, -1) == -EINVAL, "open for a task fails with EINVAL");
  tap(open_event(&attr, 0, kCarrier, -1) == -EINVAL, "open for a task on a CPU fails with EINVAL");
  const struct perf_event_attr dummy = dummy_attr();
  const int leader = open_event(&dummy, -1, kCarrier, -1);
  tap(open_event(&attr, -1, kCarrier, leader) == -EINVAL,
      "open as a member of a group fails with EINVAL");
  close(leader);
  tap(control("calls CONFIGURE") == before, "these refusals issue no hypervisor call");
}

static void open_several(void) {
  struct client client;
  client_begin(&client, CORE, kCarrier, 1 << 18, 1 << 18);
  const struct perf_event_attr same = client_attr(CORE);
  const struct perf_event_attr other = client_attr(HTM_CONFIG(kCore, 0, 0, 0));
  tap(open_event(&same, -1, kThird, -1) == -EBUSY,
      "open of a target that is open fails with EBUSY");
  tap(open_event(&other, -1, kCarrier, -1) == -EBUSY,
      "open on a CPU that carries an event fails with EBUSY");
  const int event = open_event(&other, -1, kThird, -1);
  tap(event >= 0, "another target can be opened on another CPU");
  close(event);
  client_end(&client);

  const struct perf_event_attr nest = client_attr(HTM_CONFIG(kNest, 0, 1, 5));
  const struct perf_event_attr same_nest = client_attr(HTM_CONFIG(kNest, 0, 1, 9));
  const int first = open_event(&nest, -1, kCarrier, -1);
  tap(first >= 0 && open_event(&same_nest, -1, kThird, -1) == -EBUSY,
      "the driver ignores the core index of a nest target");
  close(first);
  tap(control("configured") == 0, "a closed event leaves no macro configured");
}

// ------------------------------------------------------------------------------- sysfs

// Reads the hypervisor's files as another user, with CAP_PERFMON alone or without any capability.
// Returns 16 * (files read) + (files refused with EACCES).
static int read_files_as_user(bool perfmon) {
  static const char* const files[] = {"capabilities", "status_nest", "status_core",
                                      "status_llat",  "topology",    "memory_map"};
  const pid_t child = fork();
  if (child < 0) die("fork");
  if (child == 0) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct caps[2] = {};
    if (perfmon) caps[1].permitted = caps[1].effective = UINT32_C(1) << (CAP_PERFMON - 32);
    if (prctl(PR_SET_KEEPCAPS, 1) != 0 || setuid(1000) != 0) _exit(255);
    if (syscall(SYS_capset, &header, caps) != 0) _exit(255);
    int result = 0;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
      char path[128], bytes[4096];
      snprintf(path, sizeof(path), "/sys/bus/event_source/devices/htm/%s", files[i]);
      const int file = open(path, O_RDONLY | O_CLOEXEC);
      const ssize_t got = file < 0 ? -1 : read(file, bytes, sizeof(bytes));
      if (got > 0) result += 16;
      if (got < 0 && errno == EACCES) result++;
      close(file);
    }
    _exit(result);
  }
  int status;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

static void read_files(void) {
  const int64_t calls = control("calls CAPABILITIES");
  tap_equal(read_files_as_user(false), 6,
            "without CAP_PERFMON, the driver refuses to read each file");
  tap_equal(control("calls CAPABILITIES"), calls,
            "these refusals of reads issue no hypervisor call");
  tap_equal(read_files_as_user(true), 6 * 16, "CAP_PERFMON is enough to read each file");
}

int main(void) {
  read_files();
  open_badly();
  open_several();
  return tap_end();
}
