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
  // Takes the descriptor. Call it before htmtrace opens a file, which could otherwise get the
  // number of a descriptor that is not open. `options` outlive this object. Throws Error.
  explicit ReadyNotice(const ScriptOptions& options);
  // Removes the file.
  ~ReadyNotice();
  ReadyNotice(const ReadyNotice&) = delete;
  ReadyNotice& operator=(const ReadyNotice&) = delete;

  // Creates the file, without its name. Call it after privileges were given up. Throws Error.
  void prepare();

  // For a recorder that continues in the background: announce() writes the line to `parent`, too,
  // and then leaves the terminal. Later messages go to `messages` unless standard error is a file.
  void detach(Fd parent, int messages);

  // Call it when every target traces and the workload, if any, runs. Throws Error.
  void announce();

 private:
  void refuse_existing_file() const;
  void leave_terminal();

  const ScriptOptions& options_;
  Fd fd_;
  Fd parent_;
  int messages_ = -1;
  std::optional<NewFile> file_;
};

}  // namespace htmtrace
