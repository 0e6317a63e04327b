// SPDX-License-Identifier: GPL-2.0-or-later
#include "share.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "qemu_plugin.h"
#include "report.h"

enum { kMaxName = 1024, kMaxPiece = 1 << 24 };

static const char* folder;

void share_open(const char* path) {
  folder = path;
}

// The guest's scripts use plain file names. No file may be outside the folder.
static bool name_good(const char* name, size_t length) {
  return strlen(name) == length && length != 0 && name[0] != '/' && strstr(name, "..") == NULL;
}

// The caller frees the result. NULL: a page is not in memory.
static GByteArray* read_guest(uint64_t address, uint64_t length) {
  GByteArray* bytes = g_byte_array_new();
  if (length == 0 || qemu_plugin_read_memory_vaddr(address, bytes, length)) return bytes;
  g_byte_array_free(bytes, 1);
  return NULL;
}

static void make_folder(const char* path) {
  if (mkdir(path, 0777) != 0 && errno != EEXIST) {
    die("cannot make the folder %s: %s", path, strerror(errno));
  }
}

static void write_file(const char* path, const GByteArray* bytes, uint64_t offset) {
  const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (offset == 0 ? O_TRUNC : 0), 0666);
  size_t done = 0;
  while (fd >= 0 && done < bytes->len) {
    const ssize_t put = pwrite(fd, bytes->data + done, bytes->len - done, (off_t)(offset + done));
    if (put < 0) break;
    done += (size_t)put;
  }
  if (fd < 0 || done < bytes->len || close(fd) != 0) {
    die("cannot write the guest's file %s: %s", path, strerror(errno));
  }
}

int64_t share_take(const struct share_call* call) {
  if (folder == NULL || call->name_length > kMaxName || call->length > kMaxPiece) return -1;
  GByteArray* name = read_guest(call->name, call->name_length);
  GByteArray* bytes = read_guest(call->bytes, call->length);
  char path[4096] = "";
  bool good = name != NULL && bytes != NULL;
  if (good) {
    char plain[kMaxName + 1] = "";
    memcpy(plain, name->data, call->name_length);
    good = name_good(plain, call->name_length);
    snprintf(path, sizeof(path), "%s/%s", folder, plain);
  }
  if (good && path[strlen(path) - 1] == '/') {
    make_folder(path);
  } else if (good) {
    write_file(path, bytes, call->offset);
  }
  if (name != NULL) g_byte_array_free(name, 1);
  if (bytes != NULL) g_byte_array_free(bytes, 1);
  return good ? 0 : -1;
}
