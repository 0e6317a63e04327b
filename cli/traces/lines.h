// SPDX-License-Identifier: GPL-2.0-or-later
// Where the commands find source lines.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "core/call_stacks/inlined_chains.h"
#include "output/source_lines/source_files.h"

namespace htmtrace {

struct LineOptions {
  std::vector<std::string> debug_folders;  // in addition to the system's folder
};

// Declares --debug-dir in the group of symbols.
void declare_debug_folders(CLI::App& app, LineOptions& options);

// Adds the files that may have the debug information of the programs among `inputs`. Call it before
// the command enters the sandbox.
void add_debug_inputs(const LineOptions& options, std::vector<std::string>& inputs);

DebugFolders folders_of(const LineOptions& options);

// Throws Error if this build cannot read lines, or if no file in `symbols` can have them.
void check_lines(const SymbolTable& symbols);

// The lines of the files in `symbols`, which must outlive the result. Throws like check_lines().
std::unique_ptr<SourceFiles> open_lines(const SymbolTable& symbols, const LineOptions& options);

// The functions that the compiler inlined, for CallStacks. `files` must outlive the result.
FindInlined inlined_by(SourceFiles& files);

// Warns of files that have no lines, or only a part of their lines.
void warn_of_lines(const std::vector<std::string>& problems);

}  // namespace htmtrace
