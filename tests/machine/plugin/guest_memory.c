// SPDX-License-Identifier: GPL-2.0-or-later
#include "guest_memory.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "qemu_plugin.h"
#include "report.h"

// A pseries guest's RAM grows in steps of 256 MiB; a smaller step costs nothing.
#define PROBE_STEP (UINT64_C(16) << 20)

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint64_t ram_bytes;

static bool readable(uint64_t address) {
  GByteArray* byte = g_byte_array_new();
  const bool ok = qemu_plugin_read_memory_hwaddr(address, byte, 1) == 0;
  g_byte_array_free(byte, 1);
  return ok;
}

static void probe(void) {
  while (readable(ram_bytes)) ram_bytes += PROBE_STEP;
}

uint64_t guest_ram_bytes(void) {
  pthread_once(&once, probe);
  return ram_bytes;
}

uint64_t guest_read(uint64_t address, size_t length) {
  static _Thread_local GByteArray* buffer;
  if (buffer == NULL) buffer = g_byte_array_new();
  g_byte_array_set_size(buffer, (unsigned)length);
  if (qemu_plugin_read_memory_hwaddr(address, buffer, length) != 0) {
    report_violation("cannot read %zu bytes at 0x%" PRIx64, length, address);
    return 0;
  }
  uint64_t value = 0;
  for (size_t i = 0; i < length; i++) value = value << 8 | buffer->data[i];
  return value;
}

void guest_write(uint64_t address, const void* bytes, size_t length) {
  GByteArray* data = g_byte_array_new();
  g_byte_array_set_size(data, (unsigned)length);
  memcpy(data->data, bytes, length);
  if (qemu_plugin_write_memory_hwaddr(address, data) != 0) {
    report_violation("cannot write %zu bytes at 0x%" PRIx64, length, address);
  }
  g_byte_array_free(data, 1);
}
