// SPDX-License-Identifier: GPL-2.0-or-later
// family FILE ROUNDS [attack] - the workload. It runs two processes of the program `twin` and one
// of the program `other` at the same time. With "attack", it also runs processes whose pages become
// pages of other processes:
// - a short program, which may end before the recorder sees it
// - a program that replaces itself
// - children that execute no program. In each round, the child keeps a page that its parent gives
//   up, and the parent later gets the page back.
// Writes "INDEX COMMAND PID" for each process whose instructions the oracle knows, and which
// htmtrace may name, to FILE, when three processes have run on both CPUs. htmtrace must not find a
// process for the others: this process and its children without a program.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mark.h"

static pid_t start(const char* program, const char* index, const char* rounds, const char* first,
                   const char* second, const char* again) {
  const pid_t child = fork();
  if (child == 0) {
    execlp(program, program, index, rounds, first, second, again, (char*)NULL);
    _exit(127);
  }
  return child;
}

enum { kWords = 65536, kStride = 512 };  // a word of each page of 4 KiB
static volatile long shared[kWords];

// Stores to pages of the stack, and to static data.
__attribute__((noinline)) static long work(long value) {
  volatile long pages[4 * kStride];
  for (int i = 0; i < 4; i++) pages[i * kStride] = value + i;
  for (int i = 0; i < kWords; i += kStride) shared[i] += value;
  return pages[value & 3];
}

static int run_children(int count) {
  int failures = 0;
  for (int round = 0; round < count; round++) {
    const pid_t child = fork();
    if (child == 0) {
      for (int i = 0; i < 10; i++) {
        mark(4);
        work(i);
        usleep(1000);
      }
      _exit(0);
    }
    mark(0);
    work(round);  // the parent gets copies
    int status = 1;
    waitpid(child, &status, 0);
    failures += status != 0;
  }
  return failures;
}

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const char* rounds = arguments[2];
  const int attack = count > 3 && strcmp(arguments[3], "attack") == 0;
  const char* end = attack ? NULL : "wait";
  mark(0);
  int ready[2];
  if (pipe(ready) != 0 || dup2(ready[1], kReady) < 0 || close(ready[1]) != 0) return 1;
  const pid_t brief = attack ? start("twin", "6", "2", "1", "2", NULL) : -1;
  if (attack) waitpid(brief, NULL, 0);
  pid_t workers[] = {start("twin", "1", rounds, "1", "2", end),
                     start("twin", "2", rounds, "2", "1", end),
                     start("other", "3", rounds, "1", "2", end),
                     attack ? start("twin", "7", rounds, "2", "1", "again") : -1};
  close(kReady);
  char byte;
  for (int i = 0; i < 3; i++) {
    if (read(ready[0], &byte, 1) != 1) return 1;
  }
  FILE* file = fopen(arguments[1], "w");
  if (file == NULL) return 1;
  fprintf(file, "1 twin %d\n2 twin %d\n3 other %d\n", (int)workers[0], (int)workers[1],
          (int)workers[2]);
  if (attack) fprintf(file, "6 twin %d\n7 twin %d\n", (int)brief, (int)workers[3]);
  if (fclose(file) != 0) return 1;
  int failures = attack ? run_children(5) : 0;
  for (int i = 0; i < (attack ? 4 : 3); i++) {
    int status = 1;
    waitpid(workers[i], &status, 0);
    failures += status != 0;
  }
  return failures;
}
