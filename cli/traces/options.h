// SPDX-License-Identifier: GPL-2.0-or-later
// The options that decode and report share: the traces, the selection, and the output.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/traces/choice.h"
#include "cli/traces/context.h"
#include "cli/traces/nest_options.h"
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

  Existing existing() const { return force ? Existing::kReplace : Existing::kRefuse; }
};

// Declares PATH, --node, --chip, --core, --output, --force, and the options of declare_context(),
// declare_selection() and declare_nest().
void declare_traces(CLI::App& app, TraceOptions& options);

// Throws Error, also if the output is a file of the traces or one of `more_inputs`.
TextOutput open_output(const TraceOptions& options,
                       const std::vector<std::string>& more_inputs = {});

}  // namespace htmtrace
