// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "dtl_events.h"
#include "h_htm.h"
#include "report.h"

struct config config = {
    .buffer_log2 = {[kTypeNest] = 20, [kTypeCore] = 26, [kTypeLlat] = 20},
    .block_log2 = 24,
    .sysmem_entries = 2014,  // the maximum seen in one answer of a real machine
    .iterator_end = kEndOnes,
    .stamps_every = 64,
    .lie_log2 = kHonest,
};

static bool set_core(const char* value) {
  unsigned vcpu, node, chip, core;
  char rest;
  if (sscanf(value, "%u node=%u chip=%u core=%u %c", &vcpu, &node, &chip, &core, &rest) != 4) {
    return false;
  }
  if (vcpu >= kMaxVcpus || node > UINT16_MAX || chip > UINT16_MAX || core > UINT16_MAX) {
    return false;
  }
  config.cores[vcpu] = (struct core_location){
      .present = true, .node = (uint16_t)node, .chip = (uint16_t)chip, .core = (uint16_t)core};
  return true;
}

static bool set_buffer(const char* value) {
  static const char* const names[kBufferTypes] = {
      [kTypeNest] = "nest", [kTypeCore] = "core", [kTypeLlat] = "llat"};
  char name[8], rest;
  unsigned log2;
  if (sscanf(value, "%7s %u %c", name, &log2, &rest) != 2) return false;
  if (log2 != 0 && (log2 < 12 || log2 > 40)) return false;
  for (unsigned type = kTypeNest; type < kBufferTypes; type++) {
    if (strcmp(name, names[type]) != 0) continue;
    config.buffer_log2[type] = log2;
    return true;
  }
  return false;
}

static bool set_number(const char* value, unsigned minimum, unsigned maximum, unsigned* number) {
  char rest;
  unsigned parsed;
  if (sscanf(value, "%u %c", &parsed, &rest) != 1) return false;
  if (parsed < minimum || parsed > maximum) return false;
  *number = parsed;
  return true;
}

static bool set_task(const char* value) {
  struct task_offsets* task = &config.task;
  char rest;
  return sscanf(value, "%u %u %u %c", &task->current, &task->pid, &task->tgid, &rest) == 3;
}

static bool set_choice(const char* value, const char* const* choices, unsigned count,
                       unsigned* chosen) {
  for (unsigned i = 0; i < count; i++) {
    if (strcmp(value, choices[i]) == 0) {
      *chosen = i;
      return true;
    }
  }
  return false;
}

static bool set(const char* key, const char* value) {
  static const char* const switches[] = {"off", "on"};
  static const char* const ends[] = {
      [kEndOnes] = "ones", [kEndZero] = "zero", [kEndStatus] = "status"};
  static const char* const orders[] = {"oldest", "memory"};
  const struct {
    const char* key;
    bool* on;
  } booleans[] = {{"oracle", &config.oracle},
                  {"truth", &config.truth},
                  {"journal", &config.journal},
                  {"kasan_shadow", &config.kasan_shadow},
                  {"nest_commands", &config.nest_commands}};
  unsigned choice;
  for (size_t i = 0; i < sizeof(booleans) / sizeof(booleans[0]); i++) {
    if (strcmp(key, booleans[i].key) != 0) continue;
    if (!set_choice(value, switches, 2, &choice)) return false;
    *booleans[i].on = choice;
    return true;
  }
  if (strncmp(key, "dtl", 3) == 0) return dtl_set(key, value);
  if (strcmp(key, "core") == 0) return set_core(value);
  if (strcmp(key, "buffer") == 0) return set_buffer(value);
  if (strcmp(key, "task") == 0) return set_task(value);
  if (strcmp(key, "partition") == 0) return set_number(value, 0, 0xfffe, &config.partition);
  if (strcmp(key, "block") == 0) return set_number(value, 20, 28, &config.block_log2);
  if (strcmp(key, "sysmem_entries") == 0) {
    return set_number(value, 1, 2014, &config.sysmem_entries);
  }
  if (strcmp(key, "lie_entries") == 0) return set_number(value, 0, 1 << 30, &config.lie_entries);
  if (strcmp(key, "lie_log2") == 0) return set_number(value, 0, kHonest, &config.lie_log2);
  if (strcmp(key, "dump_ns") == 0) return set_number(value, 0, 1000000, &config.dump_ns);
  if (strcmp(key, "iterator_end") == 0) {
    if (!set_choice(value, ends, 3, &choice)) return false;
    config.iterator_end = choice;
    return true;
  }
  if (strcmp(key, "wrap_order") == 0) {
    if (!set_choice(value, orders, 2, &choice)) return false;
    config.wrap_order_memory = choice;
    return true;
  }
  if (strcmp(key, "stamps") == 0) {
    config.stamps_every = 0;
    return strcmp(value, "off") == 0 || (strncmp(value, "every=", 6) == 0 &&
                                         set_number(value + 6, 1, 1 << 30, &config.stamps_every));
  }
  return false;
}

// Removes the comment and surrounding white space, and separates the key. Returns false for an
// empty line.
static bool split(char* line, char** key, char** value) {
  line[strcspn(line, "#\n")] = '\0';
  *key = line + strspn(line, " \t");
  if (**key == '\0') return false;
  size_t end = strlen(*key);
  while (end > 0 && ((*key)[end - 1] == ' ' || (*key)[end - 1] == '\t')) (*key)[--end] = '\0';
  *value = *key + strcspn(*key, " \t");
  if (**value == '\0') return true;
  *(*value)++ = '\0';
  *value += strspn(*value, " \t");
  return true;
}

static void check_cores(unsigned vcpus) {
  bool any = false;
  for (unsigned i = 0; i < kMaxVcpus; i++) any |= config.cores[i].present;
  for (unsigned i = 0; i < vcpus && !any; i++) {
    config.cores[i] = (struct core_location){.present = true, .core = (uint16_t)i};
  }
  for (unsigned i = 0; i < kMaxVcpus; i++) {
    for (unsigned j = 0; j < i; j++) {
      const struct core_location* a = &config.cores[i];
      const struct core_location* b = &config.cores[j];
      if (a->present && b->present && a->node == b->node && a->chip == b->chip &&
          a->core == b->core) {
        die("vCPU %u and vCPU %u are both node=%u,chip=%u,core=%u", j, i, a->node, a->chip,
            a->core);
      }
    }
  }
}

void config_load(const char* path, unsigned vcpus) {
  if (path != NULL) {
    FILE* file = fopen(path, "r");
    if (file == NULL) die("cannot open the configuration %s: %s", path, strerror(errno));
    char line[256];
    for (unsigned number = 1; fgets(line, sizeof(line), file) != NULL; number++) {
      char *key, *value;
      if (split(line, &key, &value) && !set(key, value)) {
        die("%s line %u: cannot understand \"%s %s\"", path, number, key, value);
      }
    }
    fclose(file);
  }
  check_cores(vcpus);
}

bool config_set(const char* line) {
  char copy[256], *key, *value;
  snprintf(copy, sizeof(copy), "%s", line);
  // Objects that were built at the machine's start cannot change.
  return split(copy, &key, &value) && strcmp(key, "core") != 0 && strcmp(key, "block") != 0 &&
         strcmp(key, "nest_commands") != 0 && strncmp(key, "dtl", 3) != 0 && set(key, value);
}
