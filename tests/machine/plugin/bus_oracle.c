// SPDX-License-Identifier: GPL-2.0-or-later
#include "bus_oracle.h"

#include <stdio.h>

#include "oracle_file.h"

struct oracle_file* bus_oracle_open(const char* directory, unsigned node, unsigned chip) {
  char name[64];
  snprintf(name, sizeof(name), "oracle.nest.n%u.p%u", node, chip);
  struct oracle_file* oracle = oracle_file_open(directory, name, "htmobus1");
  uint8_t place[4];
  uint8_t* at = place;
  oracle_put(&at, node, 2);
  oracle_put(&at, chip, 2);
  oracle_file_write(oracle, place, sizeof(place));
  return oracle;
}

void bus_oracle_start(struct oracle_file* oracle, uint64_t tick) {
  oracle_file_note(oracle, 'S', tick);
}

void bus_oracle_command(struct oracle_file* oracle, const struct bus_command* command) {
  uint8_t item[29];
  uint8_t* at = item;
  oracle_put(&at, 'C', 1);
  oracle_put(&at, command->operation, 1);
  oracle_put(&at, command->response, 1);
  oracle_put(&at, command->core, 1);
  oracle_put(&at, command->transaction, 1);
  oracle_put(&at, command->real, 8);
  oracle_put(&at, command->machine, 8);
  oracle_put(&at, command->tick, 8);
  oracle_file_write(oracle, item, sizeof(item));
}

void bus_oracle_stop(struct oracle_file* oracle, uint64_t lost_commands) {
  oracle_file_note(oracle, 'E', lost_commands);
  oracle_file_flush(oracle);
}
