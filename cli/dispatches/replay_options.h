// SPDX-License-Identifier: GPL-2.0-or-later
// A dispatch trace log as the input of `htmtrace decode` and `htmtrace report`. These commands work
// like `htmtrace dtl --input`, with the options that both have.
#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "cli/dispatches/import.h"
#include "cli/dispatches/replay.h"

namespace htmtrace {

// Returns true if `paths` is exactly one dispatch trace log. Throws Error if the file cannot be
// read.
bool is_one_dispatch_log(const std::vector<std::string>& paths);

// Throws Error if the command line of `command` has an option that is not in `usable`, because
// `file` is a dispatch trace log. `usable` holds the names of options, and PATH for the argument.
void check_dispatch_log_options(const CLI::App& command, const std::string& file,
                                std::initializer_list<std::string_view> usable);

// Throws Error. `formats` names the command's formats for a dispatch trace log.
[[noreturn]] void refuse_dispatch_log_format(const std::string& file, const char* formats);

// `input` must outlive the result.
DtlReplay replay_of(const std::string& file, const DtlInput& input);

}  // namespace htmtrace
