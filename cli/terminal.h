// SPDX-License-Identifier: GPL-2.0-or-later
// What a command that prints for people uses of a terminal: colors, the width, and a pager.
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

// Whether text to `fd` gets colors. Without --color, it does on a terminal, unless NO_COLOR is set
// and not empty, or TERM is "dumb".
bool wants_color(const TerminalOptions& options, int fd);

// The command that shows the output of the terminal: PAGER, or less. Empty: no pager, because PAGER
// is empty or "cat", or because its program is not found.
std::string pager_command();

// Shows standard output in a pager, until wait(). Prints a warning if the pager's program is not
// found.
//
// Create it before the sandbox, which starts no program, and before any thread. The pager starts
// with the first byte of output: a command that fails earlier shows its message on the terminal,
// and Ctrl-C ends a command that has not printed anything.
class Pager {
 public:
  // Does nothing if `wanted` is false, or standard output is no terminal.
  explicit Pager(bool wanted);
  ~Pager() { wait(); }
  Pager(const Pager&) = delete;
  Pager& operator=(const Pager&) = delete;

  bool running() const { return child_ > 0; }

  // Ends the output, waits until the user leaves the pager, and restores standard output. Messages
  // that follow do not disturb the pager. Harmless when called twice.
  void wait();

 private:
  pid_t child_ = -1;
  void (*interrupt_)(int) = nullptr;  // the earlier disposition of SIGINT
  Fd terminal_;
};

// The columns of the terminal of standard output. Empty if it is none.
std::optional<size_t> terminal_columns();

}  // namespace htmtrace
