// SPDX-License-Identifier: GPL-2.0-or-later
// million [ROUNDS] - executes more than a million instructions of every common kind: integer, all
// kinds of branches, loads and stores of all sizes, vectors, floating point, atomics, first
// accesses to memory, copies, system calls. Prints a checksum, so that the compiler omits nothing.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { kValues = 1024, kPages = 48 };

static uint64_t checksum;
static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

static void mix(uint64_t value) {
  checksum = (checksum ^ value) * 0x9e3779b97f4a7c15u;
}

static int by_value(const void* a, const void* b) {
  const uint32_t left = *(const uint32_t*)a, right = *(const uint32_t*)b;
  return (left > right) - (left < right);
}

// Comparisons through a function pointer, and many branches that the processor cannot predict.
static void sort_values(void) {
  static uint32_t values[kValues];
  for (int i = 0; i < kValues; i++) values[i] = (uint32_t)next_random();
  qsort(values, kValues, sizeof(values[0]), by_value);
  mix(values[kValues / 2]);
}

// A computed branch per step.
static void interpret(void) {
  uint64_t a = 1, b = 2;
  for (int i = 0; i < 4000; i++) {
    switch (next_random() & 7) {
      case 0:
        a += b;
        break;
      case 1:
        b ^= a << 3;
        break;
      case 2:
        a *= 31;
        break;
      case 3:
        b -= a >> 5;
        break;
      case 4:
        a = a / 3 + 1;
        break;
      case 5:
        b = (b << 7) | (b >> 57);
        break;
      case 6:
        a ^= (uint64_t)__builtin_popcountll(b);
        break;
      default:
        b += (uint64_t)__builtin_clzll(a | 1);
        break;
    }
  }
  mix(a);
  mix(b);
}

// The compiler turns these loops into vector accesses of 16 and 32 bytes.
static void vectors(void) {
  static double x[kValues], y[kValues];
  static int32_t u[kValues], v[kValues];
  for (int i = 0; i < kValues; i++) {
    x[i] = i;
    y[i] = 1.5 * i;
    u[i] = i * 3;
  }
  for (int pass = 0; pass < 6; pass++) {
    for (int i = 0; i < kValues; i++) y[i] = y[i] * 0.5 + x[i];
    for (int i = 0; i < kValues; i++) v[i] += u[i] ^ pass;
  }
  mix((uint64_t)y[kValues - 1]);
  mix((uint32_t)v[kValues - 1]);
}

// Reservations of all sizes.
static void atomics(void) {
  static uint8_t byte;
  static uint16_t half;
  static uint32_t word;
  static uint64_t doubleword;
  for (int i = 0; i < 500; i++) {
    __atomic_fetch_add(&byte, 1, __ATOMIC_SEQ_CST);
    __atomic_fetch_xor(&half, (uint16_t)i, __ATOMIC_ACQ_REL);
    __atomic_fetch_add(&word, (uint32_t)i, __ATOMIC_RELAXED);
    uint64_t expected = doubleword;
    __atomic_compare_exchange_n(&doubleword, &expected, expected + 3, 0, __ATOMIC_SEQ_CST,
                                __ATOMIC_RELAXED);
  }
  mix(byte + half + word + doubleword);
}

// Every page is new, so every first access faults. Copies have all lengths and alignments.
static int memory(void) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  unsigned char* const area =
      mmap(NULL, kPages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (area == MAP_FAILED) return -1;
  for (size_t i = 0; i < kPages; i++) area[i * page + i] = (unsigned char)i;
  for (size_t length = 1; length < 700; length += 3) {
    memcpy(area + length, area + kPages * page / 2 + 2 * length, length);
    memmove(area + length / 2, area + length / 3, length);
  }
  // Unaligned accesses that cross the ends of pages.
  for (size_t i = 1; i < kPages; i++) {
    uint64_t value;
    memcpy(&value, area + i * page - 3, sizeof(value));
    value += i;
    memcpy(area + i * page - 5, &value, sizeof(value));
  }
  for (size_t i = 0; i < kPages * page; i += 251) mix(area[i]);
  return munmap(area, kPages * page);
}

static int system_calls(void) {
  int ends[2];
  char text[64] = "through the kernel and back";
  struct timespec now;
  if (pipe(ends) != 0) return -1;
  for (int i = 0; i < 40; i++) {
    if (write(ends[1], text, sizeof(text)) != sizeof(text)) return -1;
    if (read(ends[0], text, sizeof(text)) != sizeof(text)) return -1;
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) return -1;
  }
  mix((uint64_t)text[3]);
  return close(ends[0]) | close(ends[1]);
}

int main(int argc, char** argv) {
  const long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 2;
  for (long i = 0; i < rounds; i++) {
    sort_values();
    interpret();
    vectors();
    atomics();
    if (memory() != 0 || system_calls() != 0) {
      perror("million");
      return 1;
    }
  }
  printf("checksum %016llx\n", (unsigned long long)checksum);
  return 0;
}
