// SPDX-License-Identifier: GPL-2.0-or-later
// unprivileged UID CAPABILITY... -- PROGRAM ARGUMENT... - runs the program as user UID, who is not
// root. The program has exactly these capabilities (numbers, see capabilities(7)) and cannot gain
// others.
#define _GNU_SOURCE
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void die(const char* what) {
  perror(what);
  exit(125);
}

static void keep_only(uint64_t capabilities) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct sets[2] = {0};
  for (int half = 0; half < 2; half++) {
    const uint32_t bits = (uint32_t)(capabilities >> (32 * half));
    sets[half].effective = sets[half].permitted = sets[half].inheritable = bits;
  }
  if (syscall(SYS_capset, &header, sets) != 0) die("capset");
  for (int number = 0; number < 64; number++) {
    if ((capabilities >> number & 1) == 0) continue;
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, number, 0, 0) != 0) die("PR_CAP_AMBIENT");
  }
}

int main(int argc, char** argv) {
  const uid_t user = argc > 1 ? (uid_t)strtoul(argv[1], NULL, 10) : 0;
  uint64_t capabilities = 0;
  int next = 2;
  for (; next < argc && strcmp(argv[next], "--") != 0; next++) {
    capabilities |= UINT64_C(1) << (strtoul(argv[next], NULL, 10) & 63);
  }
  if (user == 0 || next + 1 >= argc) {
    fputs("usage: unprivileged UID CAPABILITY... -- PROGRAM ARGUMENT...\n", stderr);
    return 2;
  }
  if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0) die("PR_SET_KEEPCAPS");
  if (setresgid(user, user, user) != 0 || setresuid(user, user, user) != 0) die("setresuid");
  keep_only(capabilities);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) die("PR_SET_NO_NEW_PRIVS");
  execvp(argv[next + 1], argv + next + 1);
  die(argv[next + 1]);
}
