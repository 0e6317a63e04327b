// SPDX-License-Identifier: GPL-2.0-or-later
#include "cpu.h"

#include <string.h>

#include "config.h"
#include "qemu_plugin.h"
#include "report.h"

enum { kGeneralRegisters = 32 };

struct handles {
  struct qemu_plugin_register* general[kGeneralRegisters];
  struct qemu_plugin_register* msr;
  struct qemu_plugin_register* process;
  struct qemu_plugin_register* paca;
};

static struct handles handles[kMaxVcpus];

void cpu_init(unsigned vcpu) {
  if (vcpu >= kMaxVcpus) die("the machine has more than %u vCPUs", kMaxVcpus);
  GArray* list = qemu_plugin_get_registers();
  const qemu_plugin_reg_descriptor* registers = (const void*)list->data;
  for (unsigned i = 0; i < list->len; i++) {
    const char* name = registers[i].name;
    char expected[8];
    if (strcmp(name, "msr") == 0) handles[vcpu].msr = registers[i].handle;
    if (strcmp(name, "sprg1") == 0) handles[vcpu].paca = registers[i].handle;
    if (strcmp(name, "pidr") == 0) handles[vcpu].process = registers[i].handle;
    for (unsigned number = 0; number < kGeneralRegisters; number++) {
      snprintf(expected, sizeof(expected), "r%u", number);
      if (strcmp(name, expected) == 0) handles[vcpu].general[number] = registers[i].handle;
    }
  }
  g_array_free(list, 1);
  if (handles[vcpu].msr == NULL || handles[vcpu].process == NULL || handles[vcpu].paca == NULL ||
      handles[vcpu].general[kGeneralRegisters - 1] == NULL) {
    die("this emulator does not show the registers of vCPU %u: QEMU 11.1 is needed", vcpu);
  }
}

// The emulator passes registers in the guest's current byte order.
static void read_bytes(struct qemu_plugin_register* handle, uint8_t bytes[8]) {
  static _Thread_local GByteArray* buffer;
  if (buffer == NULL) buffer = g_byte_array_new();
  g_byte_array_set_size(buffer, 0);
  if (!qemu_plugin_read_register(handle, buffer) || buffer->len != 8) {
    die("cannot read a register of the guest");
  }
  memcpy(bytes, buffer->data, 8);
}

static uint64_t from_bytes(const uint8_t bytes[8], bool little) {
  uint64_t value = 0;
  for (int i = 0; i < 8; i++) value = value << 8 | bytes[little ? 7 - i : i];
  return value;
}

uint64_t cpu_msr(unsigned vcpu) {
  uint8_t bytes[8];
  read_bytes(handles[vcpu].msr, bytes);
  // Little-endian: the first byte ends in MSR[LE], which is 1. Big-endian: it ends in a reserved
  // bit, which is 0.
  return from_bytes(bytes, bytes[0] & 1);
}

uint64_t cpu_process(unsigned vcpu, uint64_t msr) {
  uint8_t bytes[8];
  read_bytes(handles[vcpu].process, bytes);
  return from_bytes(bytes, msr & MSR_LE);
}

uint64_t cpu_paca(unsigned vcpu, uint64_t msr) {
  uint8_t bytes[8];
  read_bytes(handles[vcpu].paca, bytes);
  return from_bytes(bytes, msr & MSR_LE);
}

uint64_t cpu_read(unsigned vcpu, unsigned number, uint64_t msr) {
  uint8_t bytes[8];
  read_bytes(handles[vcpu].general[number], bytes);
  return from_bytes(bytes, msr & MSR_LE);
}

void cpu_write(unsigned vcpu, unsigned number, uint64_t value, uint64_t msr) {
  GByteArray* buffer = g_byte_array_new();
  g_byte_array_set_size(buffer, 8);
  for (int i = 0; i < 8; i++) {
    buffer->data[i] = (uint8_t)(value >> ((msr & MSR_LE) ? 8 * i : 56 - 8 * i));
  }
  if (!qemu_plugin_write_register(handles[vcpu].general[number], buffer)) {
    die("cannot write register %u of the guest", number);
  }
  g_byte_array_free(buffer, 1);
}
