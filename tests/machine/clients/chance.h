// SPDX-License-Identifier: GPL-2.0-or-later
// Random numbers and random refusals for the programs `stress` and `storm`.
#pragma once
#include <stdint.h>

// Seeds the calling process. Processes with the same seed draw different numbers.
void chance_begin(uint64_t seed, int process);
// Returns a random number from 0 to count - 1.
unsigned draw(unsigned count);

// Delays or refuses one of the next calls of a random operation. The hypervisor never answers that
// it has done an operation, or that the operation is needless, if it did not do the operation: the
// driver could not detect this. The answer is one of the first `answers` answers; busy answers are
// the first ones.
enum { kBusyAnswers = 6, kFewRefusals = 8, kAllAnswers = 14 };
void make_trouble(unsigned answers);

// Increments a counter in memory that processes share.
void count(uint64_t* what);
