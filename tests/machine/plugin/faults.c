// SPDX-License-Identifier: GPL-2.0-or-later
#include "faults.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

enum { kMaxRules = 256 };

struct rule {
  enum htm_operation operation;
  bool every;
  uint64_t count;
  int64_t status;
};

static struct rule rules[kMaxRules];
static unsigned rule_count;
static uint64_t seen[kOperations];
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

static bool parse_operation(const char* text, enum htm_operation* operation) {
  for (unsigned i = 1; i < kOperations; i++) {
    if (strcmp(text, htm_operation_name(i)) == 0) {
      *operation = i;
      return true;
    }
  }
  return false;
}

static bool parse_rule(const char* line, struct rule* rule) {
  char operation[32], when[32], status[32], rest;
  if (sscanf(line, "%31s %31s %31s %c", operation, when, status, &rest) != 3) return false;
  const char* equals = strchr(when, '=');
  if (equals == NULL) return false;
  rule->every = strncmp(when, "every=", 6) == 0;
  if (!rule->every && strncmp(when, "nth=", 4) != 0) return false;
  char* end;
  rule->count = strtoull(equals + 1, &end, 10);
  if (end == equals + 1 || *end != '\0' || rule->count == 0) return false;
  return parse_operation(operation, &rule->operation) && parse_status(status, &rule->status);
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
      die("%s line %u: expected OPERATION nth=N|every=N RETURN, found \"%s\"", path, number, line);
    }
    rule_count++;
  }
  fclose(file);
}

bool faults_apply(enum htm_operation operation, int64_t* status) {
  bool applied = false;
  pthread_mutex_lock(&lock);
  const uint64_t call = ++seen[operation];
  for (unsigned i = 0; i < rule_count && !applied; i++) {
    const struct rule* rule = &rules[i];
    if (rule->operation != operation) continue;
    applied = rule->every ? call % rule->count == 0 : call == rule->count;
    if (applied) *status = rule->status;
  }
  pthread_mutex_unlock(&lock);
  if (applied) report_injected(operation);
  return applied;
}
