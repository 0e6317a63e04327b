// SPDX-License-Identifier: GPL-2.0-or-later
// The features of a terminal that commands use for text: colors, the width, and a pager.
#pragma once

#include <sys/types.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/fd.h"

namespace htmtrace {

enum class ColorChoice : uint8_t { kAuto, kAlways, kNever };

struct TerminalOptions {
  ColorChoice color = ColorChoice::kAuto;
  bool no_pager = false;
};

// --no-pager.
void declare_pager(CLI::App& app, TerminalOptions& options);
// --color.
void declare_color(CLI::App& app, TerminalOptions& options);

// Returns whether text to `fd` gets colors. Without --color, text on a terminal gets colors, unless
// NO_COLOR is set and not empty, or TERM is "dumb".
bool wants_color(const TerminalOptions& options, int fd);

// Returns the command of the pager: PAGER, or less. Returns an empty text for no pager: PAGER is
// empty or "cat", or its program is not found. Warns if the program of PAGER is not found.
std::string pager_command();

// Shows standard output in a pager, until wait().
//
// Create it before any thread, and before the sandbox, in which no program can start. The pager
// starts with the first byte of output: a command that fails earlier prints its message on the
// terminal, and Ctrl-C ends a command that has not printed anything.
class Pager {
 public:
  // Does nothing if `wanted` is false, or if standard output is not a terminal.
  explicit Pager(bool wanted);
  ~Pager() { wait(); }
  Pager(const Pager&) = delete;
  Pager& operator=(const Pager&) = delete;

  bool running() const { return child_ > 0; }

  // Ends the output, waits until the user leaves the pager, and restores standard output. Messages
  // that follow do not disturb the pager. Warns if the shell reports that it could not run the
  // pager. A second call has no effect.
  void wait();

 private:
  std::string command_;
  pid_t child_ = -1;
  void (*interrupt_)(int) = nullptr;  // the earlier disposition of SIGINT
  Fd terminal_;
};

// Returns the columns of the terminal, or nothing if standard output is not a terminal.
std::optional<size_t> terminal_columns();

}  // namespace htmtrace
