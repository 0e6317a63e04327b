// SPDX-License-Identifier: GPL-2.0-or-later
// Reports that a recording has begun, to people and to scripts: the message "recording",
// --ready-fd and --ready-file. If the recording never begins, the descriptor is closed without a
// line, so a script that reads it does not hang.
#pragma once

#include <optional>

#include "cli/capture/script_options.h"
#include "core/base/fd.h"
#include "output/io/new_file.h"

namespace htmtrace {

class ReadyNotice {
 public:
  // Takes ownership of the descriptor. Call this before htmtrace opens a file: if the named
  // descriptor is not open, the file could get its number. `options` outlive this object. Throws
  // Error.
  explicit ReadyNotice(const ScriptOptions& options);
  // Removes the file, or warns.
  ~ReadyNotice();
  ReadyNotice(const ReadyNotice&) = delete;
  ReadyNotice& operator=(const ReadyNotice&) = delete;

  // Creates the file without a name. Call this after htmtrace has given up privileges. Throws
  // Error.
  void prepare();

  // For a recorder that continues in the background: announce() writes the line to `parent`, too,
  // and then leaves the terminal. Later messages go to `messages` unless standard error is a file.
  void detach(Fd parent, int messages);

  // Call this when every target traces and the workload, if any, runs. Throws Error.
  void announce();
  bool announced() const { return announced_; }

 private:
  void refuse_existing_file() const;
  void leave_terminal();

  const ScriptOptions& options_;
  Fd fd_;
  Fd parent_;
  int messages_ = -1;
  bool announced_ = false;
  std::optional<NewFile> file_;
};

}  // namespace htmtrace
