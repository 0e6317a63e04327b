// SPDX-License-Identifier: GPL-2.0-or-later
// family FILE ROUNDS [attack] - the workload. At the same time, it runs two processes of the
// program `twin` and one process of the program `other`. With "attack", it also runs processes
// whose pages later belong to other processes:
// - a short program, which may end before the recorder sees it
// - a program that replaces itself
// - children that execute no program. In each round, the child keeps a page that its parent gives
//   up, and the parent later gets the page back.
// Writes COMMAND:PID of the three processes to FILE when they have run on both CPUs.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kReady = 9 };  // of worker.c

static pid_t start(const char* program, const char* rounds, const char* first, const char* second,
                   const char* end) {
  const pid_t child = fork();
  if (child == 0) {
    execlp(program, program, rounds, first, second, end, (char*)NULL);
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
        work(i);
        usleep(1000);
      }
      _exit(0);
    }
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
  int ready[2];
  if (pipe(ready) != 0 || dup2(ready[1], kReady) < 0 || close(ready[1]) != 0) return 1;
  if (attack) waitpid(start("twin", "2", "1", "2", NULL), NULL, 0);
  pid_t workers[] = {start("twin", rounds, "1", "2", end), start("twin", rounds, "2", "1", end),
                     start("other", rounds, "1", "2", end),
                     attack ? start("twin", rounds, "2", "1", "again") : -1};
  close(kReady);
  char byte;
  for (int i = 0; i < 3; i++) {
    if (read(ready[0], &byte, 1) != 1) return 1;
  }
  FILE* file = fopen(arguments[1], "w");
  if (file == NULL) return 1;
  fprintf(file, "twin:%d\ntwin:%d\nother:%d\n", (int)workers[0], (int)workers[1], (int)workers[2]);
  if (fclose(file) != 0) return 1;
  int failures = attack ? run_children(5) : 0;
  for (int i = 0; i < (attack ? 4 : 3); i++) {
    int status = 1;
    waitpid(workers[i], &status, 0);
    failures += status != 0;
  }
  return failures;
}
