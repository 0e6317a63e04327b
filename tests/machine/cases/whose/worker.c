// SPDX-License-Identifier: GPL-2.0-or-later
// worker ROUNDS [CPU OTHER_CPU [again|wait|slow]] - works in short rounds, and sleeps between
// them. With CPUs, it moves from one CPU to the other, and writes a byte to file descriptor 9 when
// it has run on both. With "again", it then executes its program once more. With "wait", it then
// sleeps, so that the recorder can see its pages. With "slow", it sleeps longer between the rounds.
// The work stores to the stack, to static data and to new memory, enters the kernel in several
// ways, and in some stretches stores to no memory at all. It also uses memory that proves no
// process: memory at an address that all workers choose, and memory that all workers share.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { kReady = 9 };
enum { kWords = 4096, kPages = 4, kPageBytes = 65536, kRoundsOnCpu = 2 };
static volatile uint64_t table[kWords];
// The heaps of some language runtimes begin here.
static char* const kChosen = (char*)0xc000000000;
static volatile char* chosen;
static volatile char* common;
static volatile sig_atomic_t signals;

__attribute__((noinline)) static uint64_t recurse(unsigned depth, uint64_t value) {
  volatile uint64_t kept = value * 3;
  if (depth == 0) return kept;
  return recurse(depth - 1, kept ^ depth) + kept;
}

__attribute__((noinline)) static uint64_t read_only(unsigned turns) {
  uint64_t sum = 0;
  for (unsigned i = 0; i < turns; i++) sum += table[i % kWords];
  return sum;
}

static void new_memory(unsigned turn) {
  char* memory =
      mmap(NULL, kPages * kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) exit(1);
  for (unsigned i = 0; i < kPages; i++) memory[i * kPageBytes + turn % kPageBytes] = (char)turn;
  munmap(memory, kPages * kPageBytes);
}

// Returns the pages at the chosen address to the kernel now and then.
static void chosen_memory(unsigned turn) {
  if (turn % 16 == 15) munmap(kChosen, kPages * kPageBytes);
  if (turn % 16 == 0 || turn % 16 == 15) {
    chosen = mmap(kChosen, kPages * kPageBytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (chosen == MAP_FAILED) exit(1);
  }
  for (unsigned i = 0; i < kPages; i++) chosen[i * kPageBytes + turn % kPageBytes] = (char)turn;
}

static void share_memory(void) {
  const int file = open("/tmp/common", O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, kPageBytes) != 0) exit(1);
  common = mmap(NULL, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (common == MAP_FAILED) exit(1);
  close(file);
}

static void count_signal(int number) {
  (void)number;
  signals++;
}

static void* run_thread(void* unused) {
  (void)unused;
  table[0] += recurse(16, 1);
  return NULL;
}

static void move_to(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  if (sched_setaffinity(0, sizeof(one), &one) != 0) exit(1);
}

int main(int count, char** arguments) {
  if (count < 2) return 2;
  const unsigned rounds = (unsigned)atoi(arguments[1]);
  const char* end = count > 4 ? arguments[4] : "";
  share_memory();
  signal(SIGUSR1, count_signal);
  for (unsigned i = 0; i < rounds; i++) {
    if (count > 3 && i % kRoundsOnCpu == 0) move_to(atoi(arguments[2 + i / kRoundsOnCpu % 2]));
    // Not every parent waits for this byte.
    if (i == kRoundsOnCpu && write(kReady, "", 1) != 1 && errno != EBADF) return 1;
    for (unsigned turn = 0; turn < SIZE; turn++) table[turn % kWords] += recurse(16, turn);
    table[i % kWords] += read_only(2 * SIZE);
    new_memory(i);
    chosen_memory(i);
    common[i % kPageBytes]++;
    getppid();
    raise(SIGUSR1);
    if (THREADS && i % 2 == 1) {
      pthread_t thread;
      if (pthread_create(&thread, NULL, run_thread, NULL) != 0) return 1;
      pthread_join(thread, NULL);
    }
    sched_yield();
    const struct timespec pause = {.tv_nsec = strcmp(end, "slow") == 0 ? 100000000 : 2000000};
    nanosleep(&pause, NULL);
  }
  if (strcmp(end, "again") == 0) {
    execlp(arguments[0], arguments[0], arguments[1], (char*)NULL);
    return 1;
  }
  if (strcmp(end, "wait") == 0) sleep(2);
  return signals != (sig_atomic_t)rounds;
}
