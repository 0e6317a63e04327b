// SPDX-License-Identifier: GPL-2.0-or-later
// The options that decode and report share: the traces, the selection, and the output.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/traces/choice.h"
#include "cli/traces/context.h"
#include "cli/traces/nest_options.h"
#include "cli/traces/reach.h"
#include "core/selection/selection.h"
#include "output/io/text_output.h"

namespace htmtrace {

struct TraceOptions {
  std::vector<std::string> paths = {"."};
  TargetFilter filter;
  ContextOptions context;
  Selection selection;
  NestOptions nest;
  std::string output;  // empty: standard output
  bool force = false;
  bool no_sandbox = false;

  Existing existing() const { return force ? Existing::kReplace : Existing::kRefuse; }
};

// Declares PATH, --node, --chip, --core, --output, --force, --no-sandbox, and the options of
// declare_context(), declare_selection() and declare_nest().
void declare_traces(CLI::App& app, TraceOptions& options);

// Enters the sandbox, unless an option turns it off. The command also reads `more_inputs`, and
// writes `more`, to which this adds the output.
void confine(const TraceOptions& options, const std::vector<std::string>& more_inputs,
             const Reach& more = {});

// Throws Error, also if the output is a file of the traces or one of `more_inputs`.
TextOutput open_output(const TraceOptions& options,
                       const std::vector<std::string>& more_inputs = {});

}  // namespace htmtrace
