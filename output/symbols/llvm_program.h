// SPDX-License-Identifier: GPL-2.0-or-later
// Runs a program of LLVM to its end.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace htmtrace {

struct LlvmRun {
  int status = 0;  // the exit status; 0: success
  std::string output;
  std::string messages;  // standard error
};

// Looks for `program` in PATH, and passes `input` as its standard input. Throws Error if the
// program cannot run, or if a signal ends it.
LlvmRun run_llvm(const char* program, std::vector<std::string> arguments, std::string_view input);

}  // namespace htmtrace
