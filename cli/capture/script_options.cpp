// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/capture/script_options.h"

#include <unistd.h>

#include <map>

#include "cli/capture/control_channel.h"
#include "cli/help.h"
#include "cli/number_from.h"
#include "cli/one_of.h"

namespace htmtrace {

void declare_script_options(CLI::App& app, ScriptOptions& options, const std::string& commands) {
  app.option_defaults()->group(kScriptGroup);
  app.add_option("--control", options.control, "Commands " + commands + ": fifo:PATH, fd:N")
      ->check(CLI::Validator(ControlChannel::check, ""))
      ->type_name("CHANNEL");
  app.add_option("--ready-fd", options.ready_fd,
                 "Write a line to file descriptor N when tracing has begun")
      ->check(number_from(STDERR_FILENO + 1))
      ->type_name("N");
  app.add_option("--ready-file", options.ready_file,
                 "Create FILE when tracing has begun; remove it at the end")
      ->type_name("FILE");
  app.add_flag("--detach", options.detach,
               "Return when tracing has begun, and print the recorder's ID");
  static const std::map<std::string, Progress::Style> styles = {
      {"terminal", Progress::Style::kTerminal}, {"json", Progress::Style::kJson}};
  app.add_option("--progress", options.progress, "Progress on stderr: terminal, json [terminal]")
      ->transform(one_of(styles))
      ->type_name("STYLE")
      ->default_str("");
  app.option_defaults()->group(kOutputGroup);
  app.add_flag("-q,--quiet", options.quiet, "Print only warnings, errors and losses");
}

void check_detach(const ScriptOptions& options, bool runs_program, bool prints) {
  if (!options.detach) return;
  if (runs_program) {
    throw CLI::ValidationError("--detach",
                               "cannot run a program; run it after htmtrace has returned");
  }
  if (prints) {
    throw CLI::ValidationError("--detach",
                               "requires -o with a folder or file, and no other output");
  }
  if (options.progress == Progress::Style::kJson) {
    throw CLI::ValidationError("--detach", "cannot be used with --progress json");
  }
}

Progress::Style progress_style(const ScriptOptions& options) {
  const bool hidden =
      (options.quiet || options.detach) && options.progress == Progress::Style::kTerminal;
  return hidden ? Progress::Style::kNone : options.progress;
}

}  // namespace htmtrace
