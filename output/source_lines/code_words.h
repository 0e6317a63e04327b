// SPDX-License-Identifier: GPL-2.0-or-later
// The instruction words of a program file, which also has the code that no trace executed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "core/base/budget.h"

namespace htmtrace {

// Calls visit(address, word) for each instruction of the file's code, in sections in the order of
// the file. A prefixed instruction has the word of its prefix. Does nothing if the file is not
// for 64-bit POWER. Throws Error.
void visit_code(const std::filesystem::path& program, WorkBudget& work,
                const std::function<void(uint64_t, uint32_t)>& visit);

}  // namespace htmtrace
