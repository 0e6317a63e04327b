// SPDX-License-Identifier: GPL-2.0-or-later
// The options that decode and report share: the traces, the selection, and the output.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "cli/affinity.h"
#include "cli/traces/choice.h"
#include "cli/traces/context.h"
#include "cli/traces/named_symbols.h"
#include "cli/traces/nest_options.h"
#include "cli/traces/reach.h"
#include "cli/traces/symbols.h"
#include "core/selection/selection.h"
#include "output/io/progress.h"
#include "output/io/text_output.h"
#include "output/report/decode_report.h"

namespace htmtrace {

struct TraceOptions {
  std::vector<std::string> paths = {"."};
  TargetFilter filter;
  ContextOptions context;
  Selection selection;
  NameOptions names;
  std::vector<std::string> processes;  // --process; empty: all
  NestOptions nest;
  std::string output;  // empty: standard output
  bool force = false;
  bool no_sandbox = false;
  bool exit_code = false;
  static constexpr unsigned kMostThreads = 256;
  unsigned threads = std::min(allowed_cpus(), kMostThreads);  // that decode, print or count
  bool quiet = false;  // print no progress, no statistics and no notes on stderr

  // Returns true if an option selects a part of the events.
  bool selects() const { return !selection.everything() || !nest.commands.empty(); }
  // The number of selected events decides the exit status, even if the reader of the output has
  // gone.
  bool counts_for_status() const { return exit_code && selects(); }
  // The style of the progress line on stderr.
  Progress::Style progress() const {
    return quiet ? Progress::Style::kNone : Progress::Style::kTerminal;
  }
  Existing existing() const { return force ? Existing::kReplace : Existing::kRefuse; }
};

// Declares PATH, --node, --chip, --core, --output, --force, --no-sandbox, and the options of
// declare_context(), declare_selection() and declare_nest().
void declare_traces(CLI::App& app, TraceOptions& options);

// Returns the value of TraceOptions::output for an option that names the file: "-" is standard
// output. Throws CLI::ValidationError if the name is empty.
std::string output_of_option(const std::string& option, const std::string& file);

// The symbols for the traces of a command, and the instructions that its options select by name.
class TraceNames {
 public:
  // Loads the symbols for the traces at `paths`. `options` must outlive this object. Throws Error.
  TraceNames(const SymbolOptions& symbols, const TraceOptions& options,
             const std::vector<std::string>& paths);
  TraceNames(const SymbolOptions& symbols, const TraceOptions& options)
      : TraceNames(symbols, options, options.paths) {}

  const SymbolTable& symbols() const { return recorded_.table(); }

  // Call this before the core trace is read. Returns the selection by name for this trace, or null.
  // It stays valid until the next call. Throws Error.
  const NameSelection* enter(const ChosenTrace& trace);

 private:
  // Throws Error if no recording knows a file of --code.
  void check_files(const std::vector<std::string>& paths);

  const NameOptions& options_;
  RecordedSymbols recorded_;
  std::optional<NameSelection> selected_;
};

// Declares --threads, in the current group.
void declare_threads(CLI::App& app, TraceOptions& options);

// Declares --quiet, in the current group.
void declare_quiet(CLI::App& app, TraceOptions& options);

// Declares --exit-code, which makes kExitUsage the status of all errors: it differs from that of an
// empty selection.
void declare_exit_code(CLI::App& app, TraceOptions& options);

// Returns totals of 0, with a count of selected events if an option selects events.
DecodeTotals no_totals(const TraceOptions& options);

// Returns the status of a command that has read its traces.
int exit_status(const TraceOptions& options, const DecodeTotals& totals, bool incomplete);

// Enters the sandbox, unless an option turns it off. The command also reads `more_inputs`, and
// writes `more`, to which this adds the output.
void confine(const TraceOptions& options, const std::vector<std::string>& more_inputs,
             const Reach& more = {});

// Throws Error, also if the output is a file of the traces or one of `more_inputs`.
TextOutput open_output(const TraceOptions& options,
                       const std::vector<std::string>& more_inputs = {});

}  // namespace htmtrace
