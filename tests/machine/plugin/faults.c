// SPDX-License-Identifier: GPL-2.0-or-later
#include "faults.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

enum { kMaxRules = 256 };

enum when { kNth, kEvery, kFrom };

struct rule {
  enum htm_operation operation;
  enum when when;
  uint64_t count;
  int64_t status;
};

static struct rule rules[kMaxRules];
static unsigned rule_count;
static uint64_t seen[kOperations], injected[kOperations];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool parse_status(const char* text, int64_t* status) {
  static const struct {
    const char* name;
    int status;
  } names[] = {
      {"H_SUCCESS", kSuccess},
      {"H_BUSY", kBusy},
      {"H_NOT_AVAILABLE", kNotAvailable},
      {"H_PARTIAL", kPartial},
      {"H_LONG_BUSY_ORDER_1_MSEC", 9900},
      {"H_LONG_BUSY_ORDER_10_MSEC", 9901},
      {"H_LONG_BUSY_ORDER_100_MSEC", 9902},
      {"H_LONG_BUSY_ORDER_1_SEC", 9903},
      {"H_LONG_BUSY_ORDER_10_SEC", 9904},
      {"H_LONG_BUSY_ORDER_100_SEC", 9905},
      {"H_HARDWARE", kHardware},
      {"H_FUNCTION", kFunction},
      {"H_PRIVILEGE", kPrivilege},
      {"H_PARAMETER", kParameter},
      {"H_AUTHORITY", kAuthority},
      {"H_RESOURCE", kResource},
      {"H_P2", kP2},
      {"H_P3", kP3},
      {"H_P4", kP4},
      {"H_P5", kP5},
      {"H_P6", kP6},
      {"H_UNSUPPORTED", kUnsupported},
      {"H_STATE", kState},
  };
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    if (strcmp(text, names[i].name) == 0) {
      *status = names[i].status;
      return true;
    }
  }
  char* end;
  *status = strtoll(text, &end, 0);
  return end != text && *end == '\0';
}

static bool parse_when(const char* text, struct rule* rule) {
  static const char* const names[] = {[kNth] = "nth=", [kEvery] = "every=", [kFrom] = "from="};
  for (enum when when = kNth; when <= kFrom; when++) {
    const size_t length = strlen(names[when]);
    if (strncmp(text, names[when], length) != 0) continue;
    char* end;
    rule->when = when;
    rule->count = strtoull(text + length, &end, 10);
    return end != text + length && *end == '\0' && rule->count != 0;
  }
  return false;
}

static bool parse_rule(const char* line, struct rule* rule) {
  char operation[32], when[32], status[32], rest;
  if (sscanf(line, "%31s %31s %31s %c", operation, when, status, &rest) != 3) return false;
  rule->operation = htm_operation_named(operation);
  return rule->operation != 0 && parse_when(when, rule) && parse_status(status, &rule->status);
}

void faults_load(const char* path) {
  FILE* file = fopen(path, "r");
  if (file == NULL) die("cannot open the fault plan %s: %s", path, strerror(errno));
  char line[256];
  for (unsigned number = 1; fgets(line, sizeof(line), file) != NULL; number++) {
    line[strcspn(line, "#\n")] = '\0';
    if (line[strspn(line, " \t")] == '\0') continue;
    if (rule_count == kMaxRules) die("%s line %u: more than %u rules", path, number, kMaxRules);
    if (!parse_rule(line, &rules[rule_count])) {
      die("%s line %u: expected OPERATION nth=N|every=N|from=N RETURN, found \"%s\"", path, number,
          line);
    }
    rule_count++;
  }
  fclose(file);
}

bool faults_add(const char* text) {
  struct rule rule;
  if (!parse_rule(text, &rule)) return false;
  pthread_mutex_lock(&lock);
  const bool fits = rule_count < kMaxRules;
  if (fits) rules[rule_count++] = rule;
  pthread_mutex_unlock(&lock);
  return fits;
}

void faults_clear(void) {
  pthread_mutex_lock(&lock);
  rule_count = 0;
  memset(seen, 0, sizeof(seen));
  memset(injected, 0, sizeof(injected));
  pthread_mutex_unlock(&lock);
}

uint64_t faults_calls(enum htm_operation operation) {
  pthread_mutex_lock(&lock);
  const uint64_t count = seen[operation];
  pthread_mutex_unlock(&lock);
  return count;
}

uint64_t faults_injected(enum htm_operation operation) {
  pthread_mutex_lock(&lock);
  const uint64_t count = injected[operation];
  pthread_mutex_unlock(&lock);
  return count;
}

static bool fits(const struct rule* rule, uint64_t call) {
  switch (rule->when) {
    case kEvery:
      return call % rule->count == 0;
    case kFrom:
      return call >= rule->count;
    default:
      return call == rule->count;
  }
}

bool faults_apply(enum htm_operation operation, int64_t* status) {
  bool applied = false;
  pthread_mutex_lock(&lock);
  const uint64_t call = ++seen[operation];
  for (unsigned i = 0; i < rule_count && !applied; i++) {
    applied = rules[i].operation == operation && fits(&rules[i], call);
    if (applied) *status = rules[i].status;
  }
  if (applied) injected[operation]++;
  pthread_mutex_unlock(&lock);
  if (applied) report_injected(operation);
  return applied;
}
