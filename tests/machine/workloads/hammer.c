// SPDX-License-Identifier: GPL-2.0-or-later
// hammer KIB ROUNDS FILE CONTROL - loads and stores each line (128 bytes) of the first KIB KiB of
// the array `hammered`, ROUNDS times. Writes the logical addresses of the array to FILE, one line
// per page: its first and its last address. Each page has its own line, because pages of 4 KiB need
// not be contiguous. Then it ends the recording through the file CONTROL, and waits until it is
// killed, so that the recorder can still read its memory maps.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kLineBytes = 128, kMostBytes = 1 << 20 };

// Aligned to whole pages, also of 64 KiB. Volatile, because the compiler would otherwise omit
// accesses.
static volatile uint8_t hammered[kMostBytes] __attribute__((aligned(1 << 16)));

static void die(const char* what) {
  perror(what);
  exit(1);
}

// /proc/self/pagemap has 64 bits for each page. The low 55 bits are the frame number
// (Documentation/admin-guide/mm).
static void write_places(const char* path, size_t bytes, size_t page_bytes) {
  const int map = open("/proc/self/pagemap", O_RDONLY);
  FILE* file = fopen(path, "w");
  if (map < 0 || file == NULL) die(path);
  for (size_t at = 0; at < bytes; at += page_bytes) {
    uint64_t entry;
    const off_t place = (off_t)((uintptr_t)(hammered + at) / page_bytes * sizeof(entry));
    if (pread(map, &entry, sizeof(entry), place) != sizeof(entry)) die("pagemap");
    const uint64_t first = (entry & ((UINT64_C(1) << 55) - 1)) * page_bytes;
    fprintf(file, "%016lx %016lx\n", first, first + page_bytes - 1);
  }
  if (fclose(file) != 0) die(path);
}

static void end_recording(const char* control) {
  static const char kStop[] = "stop\n";
  const int commands = open(control, O_WRONLY);
  if (commands < 0 || write(commands, kStop, sizeof(kStop) - 1) < 0) die(control);
}

int main(int argc, char** argv) {
  if (argc != 5) {
    fputs("usage: hammer KIB ROUNDS FILE CONTROL\n", stderr);
    return 2;
  }
  const size_t bytes = strtoull(argv[1], NULL, 10) << 10;
  const unsigned long rounds = strtoul(argv[2], NULL, 10);
  if (bytes > kMostBytes) {
    fputs("hammer: KIB must not exceed the array's size, 1 MiB\n", stderr);
    return 2;
  }
  if (mlock((const void*)hammered, bytes) != 0) die("hammer: memory");
  for (size_t at = 0; at < bytes; at++) hammered[at] = 1;
  for (unsigned long round = 0; round < rounds; round++) {
    for (size_t at = 0; at < bytes; at += kLineBytes) {
      if (round % 4 == 3) {
        hammered[at] = (uint8_t)round;
      } else {
        (void)hammered[at];
      }
    }
  }
  write_places(argv[3], bytes, (size_t)sysconf(_SC_PAGESIZE));
  end_recording(argv[4]);
  pause();
  return 0;
}
