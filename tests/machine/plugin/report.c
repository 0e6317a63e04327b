// SPDX-License-Identifier: GPL-2.0-or-later
#include "report.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { kKeptViolations = 100, kViolationBytes = 160 };

static _Atomic uint64_t calls[kOperations];
static _Atomic uint64_t injected[kOperations];

static pthread_mutex_t violation_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t violation_count;
static char violations[kKeptViolations][kViolationBytes];

void die(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("hypervisor: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  exit(1);
}

void report_call(enum htm_operation operation) {
  calls[operation]++;
}

void report_injected(enum htm_operation operation) {
  injected[operation]++;
}

void report_violation(const char* format, ...) {
  pthread_mutex_lock(&violation_lock);
  if (violation_count < kKeptViolations) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(violations[violation_count], kViolationBytes, format, arguments);
    va_end(arguments);
  }
  violation_count++;
  pthread_mutex_unlock(&violation_lock);
}

uint64_t report_violations(void) {
  pthread_mutex_lock(&violation_lock);
  const uint64_t count = violation_count;
  pthread_mutex_unlock(&violation_lock);
  return count;
}

void report_write(FILE* file) {
  for (unsigned operation = 1; operation < kOperations; operation++) {
    fprintf(file, "calls %s %lu\n", htm_operation_name(operation), calls[operation]);
  }
  for (unsigned operation = 1; operation < kOperations; operation++) {
    fprintf(file, "injected %s %lu\n", htm_operation_name(operation), injected[operation]);
  }
  fprintf(file, "violations %lu\n", violation_count);
  for (uint64_t i = 0; i < violation_count && i < kKeptViolations; i++) {
    fprintf(file, "violation %s\n", violations[i]);
  }
}
