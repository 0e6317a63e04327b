// SPDX-License-Identifier: GPL-2.0-or-later
// The set of all instructions that were ever translated. Blocks are translated repeatedly, so equal
// instructions are stored once.
#pragma once
#include "execution.h"

const struct instruction* instructions_intern(const struct instruction* instruction);
