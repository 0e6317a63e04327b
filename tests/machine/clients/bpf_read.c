// SPDX-License-Identifier: GPL-2.0-or-later
// bpf_read - a BPF program reads an htm event like any other reader (kmod/ABI), even in the
// scheduler, under the scheduler's lock. The test skips kernels without bpf(2).
//
// The machine: CPU 0 is the carrier CPU. The traced core is the core of CPU 1: node 0, chip 1, core
// 4.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/machine/clients/processors.h"
#include "tests/machine/clients/tap.h"
#include "tests/machine/clients/traced_core.h"

enum { kData = 1 << 18, kAux = 1 << 18, kWork = 10, kMostReads = 500 };

static int bpf(int command, union bpf_attr* attr) {
  return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int create_map(unsigned type, unsigned value_size) {
  union bpf_attr attr = {
      .map_type = type, .key_size = 4, .value_size = value_size, .max_entries = 1};
  return bpf(BPF_MAP_CREATE, &attr);
}

static void set_element(int map, const void* value) {
  const uint32_t key = 0;
  union bpf_attr attr = {
      .map_fd = (uint32_t)map, .key = (uintptr_t)&key, .value = (uintptr_t)value};
  if (bpf(BPF_MAP_UPDATE_ELEM, &attr) != 0) die("BPF map");
}

static void remove_element(int map) {
  const uint32_t key = 0;
  union bpf_attr attr = {.map_fd = (uint32_t)map, .key = (uintptr_t)&key};
  if (bpf(BPF_MAP_DELETE_ELEM, &attr) != 0) die("BPF map");
}

static uint64_t element(int map) {
  const uint32_t key = 0;
  uint64_t value;
  union bpf_attr attr = {
      .map_fd = (uint32_t)map, .key = (uintptr_t)&key, .value = (uintptr_t)&value};
  if (bpf(BPF_MAP_LOOKUP_ELEM, &attr) != 0) die("BPF map");
  return value;
}

// Loads a program that reads element 0 of `events` if it runs on the carrier CPU, and stores the
// result in `values`.
static int load_program(int events, int values) {
  const struct bpf_insn code[] = {
      {.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_smp_processor_id},
      {.code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = BPF_REG_0, .off = 13, .imm = kCarrier},
      {BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, events},
      {},
      {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = 0},
      {.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_perf_event_read},
      {.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_6, .src_reg = BPF_REG_0},
      {BPF_ST | BPF_W | BPF_MEM, BPF_REG_10, 0, -4, 0},
      {.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_2, .src_reg = BPF_REG_10},
      {.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_2, .imm = -4},
      {BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, values},
      {},
      {.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_map_lookup_elem},
      {.code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = BPF_REG_0, .off = 1, .imm = 0},
      {BPF_STX | BPF_DW | BPF_MEM, BPF_REG_0, BPF_REG_6, 0, 0},
      {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
      {.code = BPF_JMP | BPF_EXIT},
  };
  static char log[1 << 16];
  union bpf_attr attr = {.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
                         .insns = (uintptr_t)code,
                         .insn_cnt = sizeof(code) / sizeof(code[0]),
                         .license = (uintptr_t) "GPL",
                         .log_buf = (uintptr_t)log,
                         .log_size = sizeof(log),
                         .log_level = 1};
  const int program = bpf(BPF_PROG_LOAD, &attr);
  if (program < 0) {
    fputs(log, stderr);
    die("BPF program");
  }
  return program;
}

static void drain_at(int program, int events, int values, const char* tracepoint) {
  struct client client;
  client_begin(&client, CORE, kCarrier, kData, kAux);
  client_enable(&client);
  work_on(kTraced, kWork);
  const int64_t dumps = control("calls DUMP_DATA");
  // Leave the carrier CPU, because bpf(2) itself would read the event there.
  stay_on(kTraced);
  set_element(events, &client.event);
  stay_on(kCarrier);
  tap(state() == kTracing, "%s: an event in a BPF map is still traced", tracepoint);
  union bpf_attr attr = {
      .raw_tracepoint = {.name = (uintptr_t)tracepoint, .prog_fd = (uint32_t)program}};
  const int link = bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);
  if (link < 0) die(tracepoint);
  unsigned idle = 0, reads = 0;
  while (idle < 2 && reads++ < kMostReads) {
    set_element(values, &(uint64_t){1});
    const pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, NULL, 0);
    const bool progress = client_consume(&client);
    idle = progress || element(values) != 0 ? 0 : idle + 1;
  }
  close(link);
  tap(whole(&client), "%s: reads by a BPF program drain the whole trace", tracepoint);
  tap(control("calls DUMP_DATA") > dumps, "%s: only the reads by the BPF program issue dumps",
      tracepoint);
  stay_on(kAnyCpu);
  // The map holds the event. The kernel frees the map after a grace period.
  remove_element(events);
  client_end(&client);
  for (int i = 0; i < 100 && control("configured") != 0; i++) usleep(20000);
}

int main(void) {
  const int events = create_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4);
  if (events < 0 && errno == ENOSYS) {
    tap(true, "a BPF program reads an event # SKIP this kernel has no bpf(2)");
    return tap_end();
  }
  const int values = create_map(BPF_MAP_TYPE_ARRAY, 8);
  if (events < 0 || values < 0) die("BPF map");
  const int program = load_program(events, values);
  drain_at(program, events, values, "sched_process_fork");
  drain_at(program, events, values, "sched_switch");
  close(program);
  close(values);
  close(events);
  tap_equal(control("configured"), 0, "no macro stays configured");
  return tap_end();
}
