// SPDX-License-Identifier: GPL-2.0-or-later
#include "journal.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "report.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE* file;

void journal_open(const char* directory) {
  char path[4096];
  snprintf(path, sizeof(path), "%s/journal", directory);
  file = fopen(path, "w");
  if (file == NULL) die("cannot write the journal %s: %s", path, strerror(errno));
}

void journal(const char* format, ...) {
  struct timespec now;
  va_list arguments;
  if (file == NULL) return;
  va_start(arguments, format);
  // Read the clock with the lock held, so that times never decrease.
  pthread_mutex_lock(&lock);
  clock_gettime(CLOCK_MONOTONIC, &now);
  fprintf(file, "%lu ", (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
  vfprintf(file, format, arguments);
  fputc('\n', file);
  pthread_mutex_unlock(&lock);
  va_end(arguments);
}

void journal_close(void) {
  if (file != NULL && fclose(file) != 0) die("cannot write the journal");
  file = NULL;
}
