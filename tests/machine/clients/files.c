// SPDX-License-Identifier: GPL-2.0-or-later
// files - the driver's binary files in sysfs (kmod/ABI): permissions, reads in pieces of any size
// from any offset, a busy hypervisor, and refusals.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/machine/clients/client.h"
#include "tests/machine/clients/control.h"
#include "tests/machine/clients/tap.h"

enum { kMost = 1 << 20, kNobody = 65534 };

static const struct {
  const char* name;
  const char* operation;
} files[] = {
    {"capabilities", "CAPABILITIES"},  {"status_nest", "STATUS"},
    {"status_core", "STATUS"},         {"status_llat", "STATUS"},
    {"topology", "DUMP_SYSPROC_CONF"}, {"memory_map", "DUMP_SYSMEM_CONF"},
};
enum { kFiles = sizeof(files) / sizeof(files[0]) };

static const char* path_of(const char* name) {
  static char path[128];
  snprintf(path, sizeof(path), "/sys/bus/event_source/devices/htm/%s", name);
  return path;
}

// Reads to the end in pieces of `piece` bytes. Returns the number of bytes, or -errno.
static ssize_t read_all(const char* name, uint8_t* bytes, size_t piece) {
  const int file = open(path_of(name), O_RDONLY);
  if (file < 0) return -errno;
  ssize_t total = 0, got;
  while ((got = read(file, bytes + total, piece)) > 0) total += got;
  const int reason = errno;
  close(file);
  return got < 0 ? -reason : total;
}

static bool any_offset(const char* name, const uint8_t* whole, size_t size) {
  static uint8_t piece[4096];
  const int file = open(path_of(name), O_RDONLY);
  bool good = pread(file, piece, sizeof(piece), (off_t)size) == 0 &&
              pread(file, piece, sizeof(piece), (off_t)1 << 40) == 0;
  for (unsigned i = 0; i < 60; i++) {
    const size_t offset = (size_t)rand() % size, count = 1 + (size_t)rand() % sizeof(piece);
    const ssize_t got = pread(file, piece, count, (off_t)offset);
    good &= got > 0 && (size_t)got <= count && offset + (size_t)got <= size &&
            memcmp(piece, whole + offset, (size_t)got) == 0;
  }
  close(file);
  return good;
}

static void read_file(unsigned i) {
  static uint8_t whole[kMost], again[kMost];
  static const size_t pieces[] = {7, 100, 4096, 1 << 18};
  const char* const name = files[i].name;
  struct stat about;
  tap(stat(path_of(name), &about) == 0 && (about.st_mode & 0777) == 0444, "%s: the mode is 0444",
      name);
  const ssize_t size = read_all(name, whole, sizeof(whole) / 4);
  tap(size > 32, "%s: the size is %zd bytes", name, size);
  bool same = size > 0;
  for (size_t j = 0; j < sizeof(pieces) / sizeof(pieces[0]); j++) {
    same &= read_all(name, again, pieces[j]) == size && memcmp(whole, again, (size_t)size) == 0;
  }
  tap(same, "%s: reads in pieces of any size return the same bytes", name);
  tap(size > 0 && any_offset(name, whole, (size_t)size),
      "%s: reads from any offset return the same bytes", name);
}

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void meet_fault(unsigned i) {
  static uint8_t bytes[kMost];
  const char* const name = files[i].name;
  control("clear");
  control("%s nth=1 H_BUSY", files[i].operation);
  control("%s nth=2 H_LONG_BUSY_ORDER_100_MSEC", files[i].operation);
  const int64_t before = now_ms();
  tap(read_all(name, bytes, 4096) > 0 && now_ms() - before >= 100,
      "%s: the driver waits for a busy hypervisor", name);
  control("clear");
  control("%s nth=1 H_AUTHORITY", files[i].operation);
  tap(read_all(name, bytes, 4096) == -EPERM, "%s: read returns EPERM for H_AUTHORITY", name);
  control("clear");
}

static void read_as_nobody(void) {
  const pid_t child = fork();
  if (child < 0) die("fork");
  if (child == 0) {
    uint8_t bytes[256];
    if (setuid(kNobody) != 0) _exit(1);
    bool good = true;
    for (unsigned i = 0; i < kFiles; i++) good &= read_all(files[i].name, bytes, 1) == -EACCES;
    _exit(!good);
  }
  int status;
  tap(waitpid(child, &status, 0) == child && status == 0,
      "without CAP_PERFMON, the driver refuses each read");
}

int main(void) {
  for (unsigned i = 0; i < kFiles; i++) read_file(i);
  for (unsigned i = 0; i < kFiles; i++) meet_fault(i);
  read_as_nobody();
  return tap_end();
}
