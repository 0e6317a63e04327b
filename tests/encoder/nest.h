// SPDX-License-Identifier: GPL-2.0-or-later
// Builds the records of nest (bus) traces, POWER8 and POWER9, for tests. A record is two words;
// host integers here, power10_store() writes them as the trace holds them. Layouts:
// htm-nest-trace(5).
#pragma once
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct nest_command {
  uint64_t address;
  unsigned group, chip, unit, transaction;  // POWER8: the group is the node
  unsigned scope, ticket, ttype, tsize;
  unsigned source, priority;  // POWER8
  unsigned delta;
};

struct nest_response {
  unsigned code, group, chip, ticket, snoop_port, scope, target;
};

// `embedded` may be null.
void power8_nest_command(uint64_t words[2], const struct nest_command* command,
                         const struct nest_response* embedded);
void power9_nest_command(uint64_t words[2], const struct nest_command* command,
                         const struct nest_response* embedded);

// At most four responses; null marks an empty slot.
void power8_nest_responses(uint64_t words[2], const struct nest_response* const slots[4],
                           unsigned delta);
void power9_nest_responses(uint64_t words[2], const struct nest_response* const slots[4],
                           unsigned delta);

#ifdef __cplusplus
}
#endif
