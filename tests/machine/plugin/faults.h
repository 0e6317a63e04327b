// SPDX-License-Identifier: GPL-2.0-or-later
// The fault plan: answers that the hypervisor gives instead of performing the operation.
//
// The plan is a text file with one rule per line; '#' starts a comment. Rules are "OPERATION nth=N
// RETURN" (only the N-th call of the operation), "OPERATION every=N RETURN" (each N-th call) and
// "OPERATION from=N RETURN" (the N-th and all later calls). The first rule that matches applies.
// RETURN is an H_ name or a number.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "h_htm.h"

void faults_load(const char* path);

// Adds a rule while the guest runs, or removes all rules and resets all counts. Returns false for
// an invalid rule or too many rules.
bool faults_add(const char* rule);
void faults_clear(void);

// Calls of an operation since the start or faults_clear(), and the number of injected answers.
uint64_t faults_calls(enum htm_operation operation);
uint64_t faults_injected(enum htm_operation operation);

// Counts this call. Returns true if the caller must answer `status` and change nothing.
bool faults_apply(enum htm_operation operation, int64_t* status);
