// SPDX-License-Identifier: GPL-2.0-or-later
// Answers that the hypervisor is told to give instead of doing its work.
//
// A text file, '#' starts a comment, one rule per line: "OPERATION nth=N RETURN" (the N-th call of
// that operation, once) or "OPERATION every=N RETURN" (each N-th call). The first rule that fits
// wins. RETURN is an H_ name or a number.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "h_htm.h"

void faults_load(const char* path);

// Count this call. True: answer `status` and change nothing.
bool faults_apply(enum htm_operation operation, int64_t* status);
