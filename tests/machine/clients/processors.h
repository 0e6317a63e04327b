// SPDX-License-Identifier: GPL-2.0-or-later
// The guest's processors, as a client sees them.
#pragma once
#include <stdbool.h>

enum { kAnyCpu = -1 };

// The calling thread runs on this one only.
void stay_on(int cpu);
// The same; false if the processor is off line.
bool try_stay_on(int cpu);

// Takes a processor off line, or brings it back. Ends the program when that fails.
void set_online(int cpu, bool online);

// Seconds since some moment.
double now(void);
