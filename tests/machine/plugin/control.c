// SPDX-License-Identifier: GPL-2.0-or-later
#include "control.h"

#include <stdio.h>
#include <string.h>

#include "config.h"
#include "faults.h"
#include "fnv.h"
#include "htm.h"
#include "journal.h"
#include "memory_map.h"
#include "ranges.h"
#include "report.h"

// Answers "calls START" and similar lines; `ask` returns the number.
static int64_t about_operation(const char* name, uint64_t (*ask)(enum htm_operation)) {
  const enum htm_operation operation = htm_operation_named(name);
  return operation == 0 ? -1 : (int64_t)ask(operation);
}

// Answers "checksum TYPE NODE CHIP CORE" and similar lines.
static int64_t about_macro(const char* words, uint64_t (*ask)(struct htm*)) {
  unsigned type, node, chip, core;
  char rest;
  if (sscanf(words, "%u %u %u %u %c", &type, &node, &chip, &core, &rest) != 4) return -1;
  struct htm* htm = htm_find(type, (uint16_t)node, (uint16_t)chip, (uint16_t)core);
  return htm == NULL ? -1 : (int64_t)ask(htm);
}

static uint64_t configurations(struct htm* htm) {
  pthread_mutex_lock(&htm->lock);
  const uint64_t count = htm->configurations;
  pthread_mutex_unlock(&htm->lock);
  return count;
}

static uint64_t state(struct htm* htm) {
  pthread_mutex_lock(&htm->lock);
  const uint64_t now = htm->state;
  pthread_mutex_unlock(&htm->lock);
  return now;
}

static uint64_t starts(struct htm* htm) {
  pthread_mutex_lock(&htm->lock);
  const uint64_t count = htm->session;
  pthread_mutex_unlock(&htm->lock);
  return count;
}

// Covers all entries of DUMP_SYSMEM_CONF, without the headers of the blocks.
static int64_t map_checksum(void) {
  uint64_t sum = FNV_START;
  for (size_t i = 0; i < memory_map_entries(); i++) {
    uint8_t entry[kSysmemEntryBytes];
    memory_map_entry(i, entry);
    sum = fnv(sum, entry, sizeof(entry));
  }
  return (int64_t)sum;
}

int64_t control(const char* line) {
  static const struct {
    const char* word;
    uint64_t (*ask)(enum htm_operation);
  } of_operations[] = {{"calls ", faults_calls},
                       {"injected ", faults_injected},
                       {"frames ", ranges_frames},
                       {"longest ", ranges_longest}};
  static const struct {
    const char* word;
    uint64_t (*ask)(struct htm*);
  } of_macros[] = {{"checksum ", htm_checksum},
                   {"configurations ", configurations},
                   {"starts ", starts},
                   {"state ", state}};

  if (strcmp(line, "clear") == 0) {
    faults_clear();
    ranges_clear();
    return 0;
  }
  if (strcmp(line, "reset") == 0) {
    htm_reset();
    return 0;
  }
  if (strncmp(line, "mark ", 5) == 0) {
    htm_journal_executed();
    journal("%s", line);
    return 0;
  }
  if (strncmp(line, "set ", 4) == 0) return config_set(line + 4) ? 0 : -1;
  if (strcmp(line, "map") == 0) return map_checksum();
  if (strcmp(line, "configured") == 0) return htm_configured();
  if (strcmp(line, "violations") == 0) return (int64_t)report_violations();
  for (size_t i = 0; i < sizeof(of_operations) / sizeof(of_operations[0]); i++) {
    const size_t length = strlen(of_operations[i].word);
    if (strncmp(line, of_operations[i].word, length) == 0) {
      return about_operation(line + length, of_operations[i].ask);
    }
  }
  for (size_t i = 0; i < sizeof(of_macros) / sizeof(of_macros[0]); i++) {
    const size_t length = strlen(of_macros[i].word);
    if (strncmp(line, of_macros[i].word, length) == 0) {
      return about_macro(line + length, of_macros[i].ask);
    }
  }
  return faults_add(line) ? 0 : -1;
}
