// SPDX-License-Identifier: GPL-2.0-or-later
#include "oracle.h"

#include <stdio.h>

#include "config.h"
#include "cpu.h"
#include "oracle_file.h"
#include "task.h"

enum { kItemBytes = 28, kAccessBytes = 20, kUserItemBytes = 25 };
enum { kThreadArea = 13 };  // the register, by the ELFv2 ABI
enum { kStoreFlag = 1, kDeviceFlag = 2 };
enum { kUserFlag = 1 };

struct oracle_file* oracle_open(const char* directory, unsigned node, unsigned chip,
                                unsigned core) {
  char name[64];
  snprintf(name, sizeof(name), "oracle.n%u.p%u.c%u", node, chip, core);
  return oracle_file_open(directory, name, "htmorac1");
}

void oracle_start(struct oracle_file* oracle) {
  oracle_file_write(oracle, "S", 1);
}

void oracle_instruction(struct oracle_file* oracle, const struct execution* execution) {
  uint8_t item[kItemBytes + kMaxAccesses * kAccessBytes];
  uint8_t* at = item;
  oracle_put(&at, 'I', 1);
  oracle_put(&at, execution->word_count, 1);
  oracle_put(&at, execution->access_count, 1);
  oracle_put(&at, (execution->msr & MSR_PR) ? kUserFlag : 0, 1);
  oracle_put(&at, execution->ea, 8);
  oracle_put(&at, execution->real, 8);
  oracle_put(&at, execution->words[0], 4);
  oracle_put(&at, execution->word_count == 2 ? execution->words[1] : 0, 4);
  for (size_t i = 0; i < execution->access_count; i++) {
    const struct access* access = &execution->accesses[i];
    oracle_put(&at, access->ea, 8);
    oracle_put(&at, access->real, 8);
    oracle_put(&at, access->size, 2);
    oracle_put(&at, (access->store ? kStoreFlag : 0) | (access->device ? kDeviceFlag : 0), 2);
  }
  oracle_file_write(oracle, item, (size_t)(at - item));
}

void oracle_stop(struct oracle_file* oracle, uint64_t lost_instructions) {
  oracle_file_note(oracle, 'E', lost_instructions);
  oracle_file_flush(oracle);
}

void oracle_user(struct oracle_file* oracle, unsigned vcpu, uint64_t msr) {
  const struct task task = config.task.current == 0 ? (struct task){0, 0} : task_of_user(vcpu, msr);
  uint8_t item[kUserItemBytes];
  uint8_t* at = item;
  oracle_put(&at, 'T', 1);
  oracle_put(&at, cpu_process(vcpu, msr), 8);
  oracle_put(&at, cpu_read(vcpu, kThreadArea, msr), 8);
  oracle_put(&at, task.process, 4);
  oracle_put(&at, task.thread, 4);
  oracle_file_write(oracle, item, sizeof(item));
}
