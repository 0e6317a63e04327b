// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "tests/machine/clients/group.h"

#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/machine/clients/client.h"

void set_aux_action(struct perf_event_attr* attr, uint32_t action) {
  // The field follows aux_sample_size.
  memcpy((char*)attr + offsetof(struct perf_event_attr, aux_sample_size) + 4, &action,
         sizeof(action));
}

unsigned pmu_type(const char* name) {
  char path[128];
  unsigned type;
  snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", name);
  FILE* file = fopen(path, "r");
  if (file == NULL || fscanf(file, "%u", &type) != 1) die(path);
  fclose(file);
  return type;
}

int open_event(const struct perf_event_attr* attr, int pid, int cpu, int group) {
  const long event = syscall(SYS_perf_event_open, attr, pid, cpu, group, PERF_FLAG_FD_CLOEXEC);
  return event < 0 ? -errno : (int)event;
}

struct perf_event_attr dummy_attr(void) {
  return (struct perf_event_attr){.type = PERF_TYPE_SOFTWARE,
                                  .size = sizeof(struct perf_event_attr),
                                  .config = PERF_COUNT_SW_DUMMY};
}

struct perf_event_attr kprobe_attr(const char* function) {
  return (struct perf_event_attr){.type = pmu_type("kprobe"),
                                  .size = sizeof(struct perf_event_attr),
                                  .config1 = (uintptr_t)function,
                                  .sample_period = 1,
                                  .sample_type = PERF_SAMPLE_RAW};
}

// Returns the file offset of an instruction of this program.
static uint64_t file_offset(uintptr_t address) {
  const Elf64_Phdr* header = (const Elf64_Phdr*)getauxval(AT_PHDR);
  for (uint64_t i = 0; i < getauxval(AT_PHNUM); i++) {
    if (header[i].p_type == PT_LOAD && address - header[i].p_vaddr < header[i].p_filesz) {
      return address - header[i].p_vaddr + header[i].p_offset;
    }
  }
  fputs("an address outside of the program\n", stderr);
  exit(1);
}

struct perf_event_attr uprobe_attr(const void* instruction) {
  static char path[4096];
  if (realpath("/proc/self/exe", path) == NULL) die("the program's own path");
  return (struct perf_event_attr){.type = pmu_type("uprobe"),
                                  .size = sizeof(struct perf_event_attr),
                                  .config1 = (uintptr_t)path,
                                  .config2 = file_offset((uintptr_t)instruction),
                                  .sample_period = 1,
                                  .sample_type = PERF_SAMPLE_RAW};
}

int event_ioctl(int event, unsigned long request, unsigned long argument) {
  return ioctl(event, request, argument) < 0 ? -errno : 0;
}
