// SPDX-License-Identifier: GPL-2.0-or-later
// What the programs `stress` and `storm` leave to chance.
#pragma once
#include <stdint.h>

// For one of several processes with the same seed, each of which draws something else.
void chance_begin(uint64_t seed, int process);
// 0 to count - 1.
unsigned draw(unsigned count);

// One of the next calls of some operation is put off or refused. Nothing here is a lie, that is, no
// call is said to be done, or to be needless, that was not done: nobody could see through that.
// `answers` is how many of the hypervisor's answers are drawn from; the busy ones are the first.
enum { kBusyAnswers = 6, kFewRefusals = 8, kAllAnswers = 14 };
void make_trouble(unsigned answers);

// One more, in memory that processes share.
void count(uint64_t* what);
