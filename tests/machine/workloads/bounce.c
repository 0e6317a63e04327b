// SPDX-License-Identifier: GPL-2.0-or-later
// bounce - the program of htmtrace-tutorial(7): two threads on CPUs 1 and 2 with separate counters.
// Both counters are in one cache line, so each store takes the line from the other core. The left
// thread counts further, so that reports always list it first.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

enum { kLeft = 24000, kRight = 20000, kTable = 4096 };

// The Makefile sets the address of this section.
static struct {
  volatile long left;
  volatile long right;
} counters __attribute__((section(".counters")));
static volatile int table[kTable];

static void run_on(int cpu) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(cpu, &cpus);
  pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus);
}

__attribute__((noinline)) static void count_left(void) {
  for (int i = 0; i < kLeft; i++) counters.left++;
}

__attribute__((noinline)) static void count_right(void) {
  for (int i = 0; i < kRight; i++) counters.right++;
}

__attribute__((noinline)) static void fill_table(void) {
  for (int i = 0; i < kTable; i++) table[i] = i;
}

static void* right_thread(void* unused) {
  run_on(2);
  count_right();
  return unused;
}

int main(void) {
  pthread_t right;
  run_on(1);
  pthread_create(&right, NULL, right_thread, NULL);
  fill_table();
  count_left();
  pthread_join(right, NULL);
  // Wait until htmtrace record --symbols has read the pages of this program.
  usleep(300000);
  return 0;
}
