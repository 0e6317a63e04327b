// SPDX-License-Identifier: GPL-2.0-or-later
#include "ranges.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "guest_memory.h"
#include "qemu_plugin.h"
#include "report.h"

enum { kFrameBytes = 4096 };

// One byte of shadow for eight of memory, 0 when all eight are allocated. powerpc book3s64 with
// radix MMU: shadow(a) = (a >> 3) + 0xa80e000000000000, RAM is mapped from 0xc000000000000000 on.
// Source: arch/powerpc/Kconfig (KASAN_SHADOW_OFFSET), Documentation/dev-tools/kasan.rst.
enum { kShadowShift = 3 };
#define LINEAR_MAP UINT64_C(0xc000000000000000)
#define SHADOW_OFFSET UINT64_C(0xa80e000000000000)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t* given[kOperations];  // one byte for each frame of RAM
static uint64_t frames[kOperations], longest[kOperations];

static void count_frames(enum htm_operation operation, uint64_t address, uint64_t length) {
  pthread_mutex_lock(&lock);
  if (length > longest[operation]) longest[operation] = length;
  if (given[operation] == NULL) given[operation] = calloc(guest_ram_bytes() / kFrameBytes + 1, 1);
  if (given[operation] == NULL) die("no memory to count frames");
  for (uint64_t at = address / kFrameBytes; at <= (address + length - 1) / kFrameBytes; at++) {
    frames[operation] += given[operation][at] == 0;
    given[operation][at] = 1;
  }
  pthread_mutex_unlock(&lock);
}

// The ranges of callers begin and end at multiples of eight; this check ignores shorter parts.
static void check_shadow(enum htm_operation operation, uint64_t address, uint64_t length) {
  const uint64_t shadow = ((LINEAR_MAP | address) >> kShadowShift) + SHADOW_OFFSET;
  GByteArray* bytes = g_byte_array_new();
  if (!qemu_plugin_read_memory_vaddr(shadow, bytes, length >> kShadowShift)) {
    report_violation("%s: no KASAN shadow at 0x%" PRIx64, htm_operation_name(operation), shadow);
  }
  for (unsigned i = 0; i < bytes->len; i++) {
    if (bytes->data[i] == 0) continue;
    report_violation("%s: address 0x%" PRIx64 " length 0x%" PRIx64
                     ", but KASAN's shadow is 0x%02x for address 0x%" PRIx64,
                     htm_operation_name(operation), address, length, bytes->data[i],
                     address + ((uint64_t)i << kShadowShift));
    break;
  }
  g_byte_array_free(bytes, 1);
}

bool ranges_given(enum htm_operation operation, uint64_t address, uint64_t length) {
  const uint64_t end = guest_ram_bytes();
  if (address > end || length > end - address) {
    report_violation("%s: address 0x%" PRIx64 " length 0x%" PRIx64 ", but RAM ends at 0x%" PRIx64,
                     htm_operation_name(operation), address, length, end);
    return false;
  }
  count_frames(operation, address, length);
  if (config.kasan_shadow) check_shadow(operation, address, length);
  return true;
}

uint64_t ranges_frames(enum htm_operation operation) {
  pthread_mutex_lock(&lock);
  const uint64_t count = frames[operation];
  pthread_mutex_unlock(&lock);
  return count;
}

uint64_t ranges_longest(enum htm_operation operation) {
  pthread_mutex_lock(&lock);
  const uint64_t bytes = longest[operation];
  pthread_mutex_unlock(&lock);
  return bytes;
}

void ranges_clear(void) {
  pthread_mutex_lock(&lock);
  for (unsigned i = 0; i < kOperations; i++) {
    if (given[i] != NULL) memset(given[i], 0, guest_ram_bytes() / kFrameBytes + 1);
    frames[i] = longest[i] = 0;
  }
  pthread_mutex_unlock(&lock);
}
