// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/trace_options.h"

#include <string>

#include "cli/input_guard.h"
#include "cli/selection_options.h"

namespace htmtrace {

void declare_traces(CLI::App& app, TraceOptions& options) {
  app.add_option("PATH", options.paths,
                 "folder of a recording, trace file, or - for standard input (default: .)");
  app.add_option("--node", options.filter.node, "of a folder, only the traces of this node");
  app.add_option("--chip", options.filter.chip, "of a folder, only the traces of this chip");
  app.add_option("--core", options.filter.core, "of a folder, only the traces of this core");
  declare_context(app, options.context);
  declare_selection(app, options.selection);
  declare_nest(app, options.nest);
  app.add_option_function<std::string>(
         "-o,--output",
         [&options](const std::string& file) { options.output = file == "-" ? "" : file; },
         "write here, not to standard output")
      ->type_name("FILE");
  app.add_flag("--force", options.force, "replace the file of -o");
}

TextOutput open_output(const TraceOptions& options, const std::vector<std::string>& more_inputs) {
  std::vector<std::string> inputs = options.paths;
  inputs.push_back(options.context.translation);
  inputs.insert(inputs.end(), more_inputs.begin(), more_inputs.end());
  check_is_no_input(options.output, inputs);
  return options.output.empty() ? TextOutput::standard_output()
                                : TextOutput::create(options.output, options.force);
}

}  // namespace htmtrace
