// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/traces/options.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/failure_status.h"
#include "cli/file_mode.h"
#include "cli/help.h"
#include "cli/messages.h"
#include "cli/traces/selection_options.h"
#include "output/recording/input_guard.h"

namespace htmtrace {

void declare_traces(CLI::App& app, TraceOptions& options) {
  app.option_defaults()->group(kInputGroup);
  app.add_option("PATH", options.paths, "Recording folder, trace file, or - for stdin [.]")
      ->type_name("PATH");
  app.add_option("--node", options.filter.node, "Read only the traces of this node")
      ->type_name("N");
  app.add_option("--chip", options.filter.chip, "Read only the traces of this chip")
      ->type_name("N");
  app.add_option("--core", options.filter.core, "Read only the traces of this core")
      ->type_name("N");
  declare_context(app, options.context);
  declare_selection(app, options.selection, options.names, options.processes);
  declare_nest(app, options.nest);
  app.option_defaults()->group(kOutputGroup);
  app.add_option_function<std::string>(
         "-o,--output",
         [&options](const std::string& file) {
           options.output = output_of_option("--output", file);
         },
         "Write to FILE instead of standard output")
      ->type_name("FILE");
  app.add_flag("--force", options.force, "Replace the file that -o names");
  declare_file_mode(app);
  app.option_defaults()->group(kInputGroup);
  app.add_flag(kNoSandbox, options.no_sandbox, kNoSandboxHelp);
}

std::string output_of_option(const std::string& option, const std::string& file) {
  if (file.empty()) throw CLI::ValidationError(option, "the name of the file is empty");
  return file == "-" ? "" : file;
}

TraceNames::TraceNames(const SymbolOptions& symbols, const TraceOptions& options,
                       const std::vector<std::string>& paths)
    : options_(options.names),
      recorded_(symbols, paths, {.owners = !options.names.files.empty(), .quiet = options.quiet}) {
  if (recorded_.has_several() && !options_.files.empty()) check_files(paths);
}

void TraceNames::check_files(const std::vector<std::string>& paths) {
  NameOptions code;
  code.quiet = true;
  for (const std::string& file : options_.files) {
    code.files = {file};
    const bool is_known = std::ranges::any_of(paths, [&](const std::string& path) {
      recorded_.enter(path);
      std::vector<std::string> unknown;
      resolve(code, symbols(), &unknown);
      return unknown.empty();
    });
    if (!is_known) resolve(code, symbols());
  }
}

const NameSelection* TraceNames::enter(const ChosenTrace& trace) {
  NameOptions options = options_;
  if (recorded_.enter(trace.path)) {
    // File numbers are valid only in one recording.
    options.quiet = options.quiet || selected_;
    selected_.reset();
  }
  if (options.empty()) return nullptr;
  if (selected_) return &*selected_;
  std::vector<std::string> unknown;
  selected_ = resolve(options, symbols(), recorded_.has_several() ? &unknown : nullptr);
  for (const std::string& file : unknown) {
    recorded_.warn_once(fmt::format("--code {} selects nothing in {}: it has no file of this name",
                                    file, recorded_.current()));
  }
  return &*selected_;
}

void declare_threads(CLI::App& app, TraceOptions& options) {
  app.add_option("-j,--threads", options.threads, "Read traces with N threads [all CPUs]")
      ->type_name("N")
      ->check(CLI::Range(1U, TraceOptions::kMostThreads).description(""))
      ->default_str("");
}

void declare_quiet(CLI::App& app, TraceOptions& options) {
  app.add_flag_callback(
      "-q,--quiet", [&options] { options.quiet = options.names.quiet = true; },
      "Print no progress, no statistics and no notes");
}

void declare_exit_code(CLI::App& app, TraceOptions& options) {
  app.option_defaults()->group(kSelectionGroup);
  app.add_flag_callback(
      "--exit-code",
      [&options] {
        options.exit_code = true;
        set_failure_status(kExitUsage);
      },
      "Exit with 1 if nothing is selected");
}

DecodeTotals no_totals(const TraceOptions& options) {
  DecodeTotals totals;
  if (options.selects()) totals.selected = 0;
  return totals;
}

int exit_status(const TraceOptions& options, const DecodeTotals& totals, bool incomplete) {
  if (incomplete) return kExitIncomplete;
  const uint64_t events = totals.selected.value_or(totals.instructions + totals.commands);
  return options.exit_code && events == 0 ? kExitNothing : kExitDone;
}

void confine(const TraceOptions& options, const std::vector<std::string>& more_inputs,
             const Reach& more) {
  if (options.no_sandbox) return;
  Reach reach = reach_of(options.paths);
  reach.files.emplace_back(options.context.translation);
  reach.files.insert(reach.files.end(), more_inputs.begin(), more_inputs.end());
  reach.outputs = more.outputs;
  reach.output_folders = more.output_folders;
  if (reach.output_folders.empty()) reach.outputs.emplace_back(options.output);
  enter_sandbox(reach);
}

TextOutput open_output(const TraceOptions& options, const std::vector<std::string>& more_inputs) {
  std::vector<std::string> inputs = options.paths;
  inputs.push_back(options.context.translation);
  inputs.insert(inputs.end(), more_inputs.begin(), more_inputs.end());
  check_is_no_input(options.output, inputs);
  return options.output.empty() ? TextOutput::standard_output()
                                : TextOutput::create(options.output, options.existing());
}

}  // namespace htmtrace
