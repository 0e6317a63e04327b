// SPDX-License-Identifier: GPL-2.0-or-later
// A dispatch trace log as the input of `htmtrace decode` and `htmtrace report`. They do what
// `htmtrace dtl --input` does, with the options that both have.
#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "cli/dispatches/import.h"
#include "cli/dispatches/replay.h"

namespace htmtrace {

// Whether `paths` names one dispatch trace log and nothing else. Throws Error when it cannot be
// read.
bool is_one_dispatch_log(const std::vector<std::string>& paths);

// Throws Error when `command` was given an option that is not in `usable`: `file` is a dispatch
// trace log. The names are those of `command`, with PATH for its argument.
void check_dispatch_log_options(const CLI::App& command, const std::string& file,
                                std::initializer_list<std::string_view> usable);

// Throws Error. `formats` tells which formats the command has for a dispatch trace log.
[[noreturn]] void refuse_dispatch_log_format(const std::string& file, const char* formats);

// `input` must outlive the result.
DtlReplay replay_of(const std::string& file, const DtlInput& input);

}  // namespace htmtrace
