// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once
#include <stdbool.h>

enum { kAnyCpu = -1 };

// Restricts the calling thread to this processor.
void stay_on(int cpu);
// Like stay_on(), but returns false if the processor is offline.
bool try_stay_on(int cpu);

// Sets a processor offline or online. Ends the program on failure.
void set_online(int cpu, bool online);

// Seconds since an arbitrary start.
double now(void);
