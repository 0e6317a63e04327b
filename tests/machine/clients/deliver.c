// SPDX-License-Identifier: GPL-2.0-or-later
// deliver FOLDER - sends all files and folders below FOLDER to the host, through the hypervisor.
// Exits with 1 if a file could not be read or was rejected.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/machine/clients/control.h"

enum { kOpenFolders = 16, kPieceBytes = 1 << 20 };

static size_t root_length;

// Sends `bytes` at `offset` of the file. A trailing slash names a folder.
static bool put(const char* name, const void* bytes, size_t length, uint64_t offset) {
  const uint64_t arguments[kCallArguments] = {(uint64_t)(uintptr_t)name, strlen(name),
                                              (uint64_t)(uintptr_t)bytes, length, offset};
  if (hypervisor_call(0xff01, arguments) == 0) return true;  // tests/machine/plugin/share.h
  fprintf(stderr, "deliver: the hypervisor rejects %s\n", name);
  return false;
}

static bool put_file(const char* path, const char* name) {
  static char piece[kPieceBytes];
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  bool taken = fd >= 0;
  uint64_t offset = 0;
  ssize_t got;
  do {
    // Reading also brings the pages into memory, as the hypervisor requires.
    got = taken ? read(fd, piece, sizeof(piece)) : -1;
    if (got < 0) fprintf(stderr, "deliver: cannot read %s: %s\n", path, strerror(errno));
    taken = got >= 0 && ((got == 0 && offset != 0) || put(name, piece, (size_t)got, offset));
    offset += (uint64_t)got;
  } while (taken && got > 0);
  if (fd >= 0) close(fd);
  return taken;
}

static int visit(const char* path, const struct stat* about, int type, struct FTW* place) {
  (void)about;
  if (place->level == 0) return 0;
  const char* name = path + root_length + 1;
  if (type == FTW_D) {
    char folder[4096];
    snprintf(folder, sizeof(folder), "%s/", name);
    return put(folder, "", 0, 0) ? 0 : 1;
  }
  if (type == FTW_F) return put_file(path, name) ? 0 : 1;
  fprintf(stderr, "deliver: %s is neither a file nor a folder\n", path);
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fputs("usage: deliver FOLDER\n", stderr);
    return 2;
  }
  root_length = strlen(argv[1]);
  return nftw(argv[1], visit, kOpenFolders, FTW_PHYS) == 0 ? 0 : 1;
}
