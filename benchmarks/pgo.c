// SPDX-License-Identifier: GPL-2.0-or-later
// pgo.c [TURNS] - a calculator for lines such as "12 7 + 3 * ;", with a program whose common and
// rare parts a compiler cannot know without a profile. benchmarks/pgo compiles it twice.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kDepth = 64, kTextBytes = 4096 };

static int64_t stack[kDepth];
static int depth;
static uint64_t errors, digest;

static void report(const char* what, int where) {
  errors++;
  for (const char* at = what; *at != '\0'; at++) digest = digest * 31 + (uint64_t)(*at ^ where);
}

static void push(int64_t value, int where) {
  if (depth == kDepth) {
    report("the stack is full", where);
    depth = 0;
  }
  stack[depth++] = value;
}

static int64_t pop(int where) {
  if (depth == 0) {
    report("the stack is empty", where);
    return 0;
  }
  return stack[--depth];
}

// Rare operations. Each one is between common ones, as in most programs.
static int64_t root(int64_t value) {
  int64_t low = 0, high = 3037000499;
  while (low < high) {
    const int64_t middle = (low + high + 1) / 2;
    if (middle * middle <= value) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

static int64_t add(int64_t a, int64_t b) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) {
    report("an addition overflows", (int)a);
    return 0;
  }
  return sum;
}

static int64_t factorial(int64_t value) {
  int64_t product = 1;
  for (int64_t i = 2; i <= value && i < 21; i++) product *= i;
  return product;
}

static int64_t multiply(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) {
    report("a multiplication overflows", (int)b);
    return 1;
  }
  return product;
}

static int64_t greatest_divisor(int64_t a, int64_t b) {
  while (b != 0) {
    const int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

static void operate(char name, int where) {
  const int64_t second = pop(where);
  switch (name) {
    case '!':
      push(factorial(second), where);
      return;
    case 'r':
      push(root(second < 0 ? 0 : second), where);
      return;
    case 'n':
      push(-second, where);
      return;
    case 'd':
      push(second, where);
      push(second, where);
      return;
    default:
      break;
  }
  const int64_t first = pop(where);
  switch (name) {
    case 'g':
      push(greatest_divisor(first, second), where);
      break;
    case '/':
      if (second == 0 || (first == INT64_MIN && second == -1)) {
        report("a division has no result", where);
        push(0, where);
      } else {
        push(first / second, where);
      }
      break;
    case '%':
      if (second == 0 || second == -1) {
        report("a division has no rest", where);
        push(0, where);
      } else {
        push(first % second, where);
      }
      break;
    case '&':
      push(first & second, where);
      break;
    case '|':
      push(first | second, where);
      break;
    case '^':
      push(first ^ second, where);
      break;
    case '-':
      push(add(first, -second), where);
      break;
    case '*':
      push(multiply(first, second), where);
      break;
    case '+':
      push(add(first, second), where);
      break;
    default:
      report("an operation is unknown", where);
      push(first, where);
  }
}

static void end_line(int where) {
  if (depth != 1) report("a line has no single result", where);
  digest = digest * 0x9e3779b97f4a7c15 + (uint64_t)(depth > 0 ? stack[depth - 1] : 0);
  depth = 0;
}

static void run(const char* text, int bytes) {
  for (int at = 0; at < bytes;) {
    const char next = text[at];
    if (next == '\0') {
      report("the text has a zero", at++);
    } else if (next == '#') {
      while (at < bytes && text[at] != ';') at++;
    } else if (next == 'x') {
      int64_t value = 0;
      for (at++; at < bytes; at++) {
        const char digit = text[at];
        if (digit >= '0' && digit <= '9') {
          value = value * 16 + digit - '0';
        } else if (digit >= 'a' && digit <= 'f') {
          value = value * 16 + digit - 'a' + 10;
        } else {
          break;
        }
      }
      push(value, at);
    } else if (next >= '0' && next <= '9') {
      int64_t value = 0;
      while (at < bytes && text[at] >= '0' && text[at] <= '9') {
        value = value * 10 + text[at++] - '0';
      }
      push(value, at);
    } else if (next == ' ') {
      at++;
    } else if (next == ';') {
      end_line(at++);
    } else {
      operate(next, at++);
    }
  }
}

// Numbers, and nearly always + or *.
static int make(char* text, uint32_t seed) {
  int used = 0;
  while (used < kTextBytes - 64) {
    const unsigned numbers = 2 + (seed >> 16) % 3;
    for (unsigned i = 0; i < numbers; i++) {
      seed = seed * 1103515245 + 12345;
      used += snprintf(text + used, 24, "%u ", (seed >> 16) % 1000);
    }
    for (unsigned i = 1; i < numbers; i++) {
      seed = seed * 1103515245 + 12345;
      const unsigned kind = (seed >> 16) % 64;
      text[used++] = kind == 0 ? '-' : kind == 1 ? '/' : kind == 2 ? '^' : kind < 16 ? '*' : '+';
    }
    text[used++] = ';';
  }
  return used;
}

int main(int count, char** arguments) {
  const int turns = count > 1 ? atoi(arguments[1]) : 20;
  static char text[kTextBytes];
  const int bytes = make(text, 1);
  for (int i = 0; i < turns; i++) run(text, bytes);
  printf("%016llx %llu\n", (unsigned long long)digest, (unsigned long long)errors);
  return 0;
}
