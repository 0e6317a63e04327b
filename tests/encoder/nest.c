// SPDX-License-Identifier: GPL-2.0-or-later
#include "nest.h"

#include <stddef.h>

// Puts `value` into bits first..last of the record.
static void put(uint64_t words[2], unsigned first, unsigned last, uint64_t value) {
  for (unsigned bit = last + 1; bit-- > first; value >>= 1) {
    if (value & 1) words[bit / 64] |= UINT64_C(1) << (63 - bit % 64);
  }
}

static void put_power8_slot(uint64_t words[2], unsigned s, const struct nest_response* r) {
  if (r == NULL) return;
  put(words, s, s, 1);
  put(words, s + 3, s + 7, r->code);
  put(words, s + 8, s + 10, r->group);
  put(words, s + 11, s + 13, r->chip);
  put(words, s + 14, s + 19, r->ticket);
  put(words, s + 20, s + 20, r->snoop_port);
  put(words, s + 21, s + 23, r->scope);
}

static void put_power9_slot(uint64_t words[2], unsigned s, const struct nest_response* r) {
  if (r == NULL) return;
  put(words, s, s, 1);
  put(words, s + 1, s + 5, r->code);
  put(words, s + 6, s + 9, r->group);
  put(words, s + 10, s + 12, r->chip);
  put(words, s + 13, s + 19, r->ticket);
  put(words, s + 20, s + 20, r->snoop_port);
  put(words, s + 21, s + 23, r->scope);
  put(words, s + 24, s + 29, r->target);
}

void power8_nest_command(uint64_t words[2], const struct nest_command* c,
                         const struct nest_response* embedded) {
  words[0] = words[1] = 0;
  put(words, 0, 0, 1);
  put(words, 1, 3, c->group);
  put(words, 4, 6, c->chip);
  put(words, 7, 14, c->unit);
  put(words, 15, 19, c->transaction);
  put(words, 20, 63, c->address & UINT64_C(0xfffffffffff));
  put(words, 86, 91, c->address >> 44);
  put(words, 64, 69, c->ticket);
  put(words, 70, 75, c->ttype);
  put(words, 76, 82, c->tsize);
  put(words, 83, 85, c->scope);
  put(words, 92, 93, c->source);
  put(words, 94, 95, c->priority);
  put(words, 96, 103, c->delta);
  put_power8_slot(words, 104, embedded);
}

void power9_nest_command(uint64_t words[2], const struct nest_command* c,
                         const struct nest_response* embedded) {
  words[0] = words[1] = 0;
  put(words, 0, 0, 1);
  put(words, 1, 4, c->group);
  put(words, 5, 7, c->chip);
  put(words, 8, 17, c->unit);
  put(words, 18, 18, c->transaction >> 4);
  put(words, 19, 22, c->address >> 2 & 15);
  put(words, 23, 26, c->transaction & 15);
  put(words, 27, 42, c->address >> 32 & 0xffff);
  put(words, 43, 68, c->address >> 6 & 0x3ffffff);
  put(words, 69, 71, c->scope);
  put(words, 72, 78, c->ticket);
  put(words, 79, 85, c->ttype);
  put(words, 86, 93, c->tsize);
  put(words, 94, 97, c->delta);
  put_power9_slot(words, 98, embedded);
}

void power8_nest_responses(uint64_t words[2], const struct nest_response* const slots[4],
                           unsigned delta) {
  words[0] = words[1] = 0;
  put(words, 0, 1, 1);
  static const unsigned places[4] = {8, 40, 72, 104};
  for (unsigned i = 0; i < 4; i++) put_power8_slot(words, places[i], slots[i]);
  put(words, 96, 103, delta);
}

void power9_nest_responses(uint64_t words[2], const struct nest_response* const slots[4],
                           unsigned delta) {
  words[0] = words[1] = 0;
  put(words, 0, 1, 1);
  static const unsigned places[4] = {2, 32, 64, 98};
  for (unsigned i = 0; i < 4; i++) put_power9_slot(words, places[i], slots[i]);
  put(words, 94, 97, delta);
}
