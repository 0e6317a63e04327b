// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/nest_options.h"

#include <map>

#include "cli/one_of.h"

namespace htmtrace {

void declare_layout(CLI::App& app, std::optional<nest::Layout>& layout) {
  static const std::map<std::string, nest::Layout> layouts = {{"power8", nest::Layout::kPower8},
                                                              {"power9", nest::Layout::kPower9},
                                                              {"unknown", nest::Layout::kUnknown}};
  app.add_option(
         "--layout", layout,
         "nest traces: layout of the records, power8, power9 or unknown (default: judged by "
         "the trace)")
      ->transform(one_of(layouts))
      ->type_name("LAYOUT");
}

void declare_nest(CLI::App& app, NestOptions& options) {
  declare_layout(app, options.layout);
  app.add_option("--command", options.commands, "nest traces: only commands of these names")
      ->type_name("NAME,...")
      ->delimiter(',')
      ->allow_extra_args(false);
}

}  // namespace htmtrace
