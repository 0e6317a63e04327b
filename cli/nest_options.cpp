// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/nest_options.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "cli/one_of.h"
#include "core/error.h"
#include "core/nest_names.h"

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

// Those that begin most like it; none when that is by a letter or two.
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

// Of any layout: which one a trace has is only known when it is read.
std::string check_command_name(const std::string& text) {
  static const CommandNames names = command_names();
  if (names.contains(text)) return {};
  const auto similar = near(names, text);
  if (similar.empty()) {
    return fmt::format("{} is no command of POWER8 or POWER9: decode prints their names", text);
  }
  return fmt::format("{} is no command of POWER8 or POWER9; there are {}", text,
                     fmt::join(similar, ", "));
}

}  // namespace

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
      ->allow_extra_args(false)
      ->check(check_command_name);
}

void check_core_selection(const NestOptions& options, const std::string& trace) {
  if (!options.layout && options.commands.empty()) return;
  throw Error("cannot select so in " + trace + ": it is a core trace")
      .hint("--command and --layout are of nest traces; if it is one, say so: --type nest");
}

}  // namespace htmtrace
