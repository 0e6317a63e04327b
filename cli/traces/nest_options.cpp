// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/traces/nest_options.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "cli/help.h"
#include "cli/one_of.h"
#include "core/base/error.h"
#include "core/nest_trace/names.h"

namespace htmtrace {
namespace {

using CommandNames = std::set<std::string_view>;

CommandNames command_names() {
  CommandNames names;
  for (const nest::Names* of : {&nest::power8_names(), &nest::power9_names()}) {
    for (const nest::CommandRow& row : of->rows()) names.insert(row.name);
  }
  return names;
}

size_t common_beginning(std::string_view a, std::string_view b) {
  return static_cast<size_t>(
      std::mismatch(a.begin(), a.begin() + std::min(a.size(), b.size()), b.begin()).first -
      a.begin());
}

// Returns the names with the longest common prefix, or none if it has only one or two letters.
std::vector<std::string_view> near(const CommandNames& names, std::string_view text) {
  constexpr size_t kLeast = 2;
  size_t most = kLeast;
  for (const std::string_view name : names) most = std::max(most, common_beginning(name, text));
  std::vector<std::string_view> found;
  for (const std::string_view name : names) {
    if (most > kLeast && common_beginning(name, text) == most) found.push_back(name);
  }
  return found;
}

// Accepts the commands of all layouts, because the trace's layout is not known yet.
std::string check_command_name(const std::string& text) {
  static const CommandNames names = command_names();
  if (names.contains(text)) return {};
  const auto similar = near(names, text);
  if (similar.empty()) {
    return fmt::format("{} is not a command of POWER8 or POWER9; htmtrace decode prints the names",
                       text);
  }
  return fmt::format("{} is not a command of POWER8 or POWER9; similar commands: {}", text,
                     fmt::join(similar, ", "));
}

}  // namespace

void declare_layout(CLI::App& app, std::optional<nest::Layout>& layout) {
  static const std::map<std::string, nest::Layout> layouts = {{"power8", nest::Layout::kPower8},
                                                              {"power9", nest::Layout::kPower9},
                                                              {"unknown", nest::Layout::kUnknown}};
  app.option_defaults()->group(kInputGroup);
  app.add_option("--layout", layout, "Nest layout: power8, power9, unknown [detected]")
      ->transform(one_of(layouts))
      ->type_name("LAYOUT");
}

void declare_nest(CLI::App& app, NestOptions& options) {
  declare_layout(app, options.layout);
  app.option_defaults()->group(kSelectionGroup);
  app.add_option("--command", options.commands, "Nest traces: select commands by name")
      ->type_name("NAME,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(check_command_name);
}

void check_core_selection(const NestOptions& options, const std::string& trace) {
  if (!options.layout && options.commands.empty()) return;
  throw Error("cannot apply --command or --layout to " + trace + ": it is a core trace")
      .hint("to decode it as a nest trace anyway, pass --type nest");
}

}  // namespace htmtrace
