// SPDX-License-Identifier: GPL-2.0-or-later
// The options with which scripts control a recording, and learn its state.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <string>

#include "output/io/progress.h"

namespace htmtrace {

struct ScriptOptions {
  std::string control = {};               // source of commands; empty: none
  std::optional<int> ready_fd = {};       // gets a line when the recording has begun
  std::filesystem::path ready_file = {};  // appears when the recording has begun; empty: none
  bool detach = false;                    // continue in the background when it has begun
  bool quiet = false;                     // print only warnings, errors and losses
  Progress::Style progress = Progress::Style::kTerminal;
};

// Sets the groups of its options itself. `commands` lists the commands that --control accepts, for
// the help text.
void declare_script_options(CLI::App& app, ScriptOptions& options, const std::string& commands);

// Throws CLI::ValidationError if the recorder cannot continue in the background, because it runs a
// program or `prints` to standard output.
void check_detach(const ScriptOptions& options, bool runs_program, bool prints);

// Returns the style of the progress. --quiet and --detach turn off the line on the terminal.
Progress::Style progress_style(const ScriptOptions& options);

}  // namespace htmtrace
