// SPDX-License-Identifier: GPL-2.0-or-later
// --mode: who may read the files that a command writes.
#pragma once

#include <CLI/CLI.hpp>

namespace htmtrace {

void declare_file_mode(CLI::App& app);

}  // namespace htmtrace
