// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/help.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace htmtrace {
namespace {

constexpr size_t kHelpColumns = 80;
constexpr size_t kPurposeColumn = 26;

constexpr std::array kHelpGroups = {kCommonGroup, kInputGroup,   kTargetGroup, kScheduleGroup,
                                    kScriptGroup, kTriggerGroup, kRingGroup,   kSelectionGroup,
                                    kSymbolGroup, kReportGroup,  kOutputGroup};

// Breaks `text` between words, and indents the following lines to the column of the first.
std::string wrap_purpose(std::string_view text) {
  constexpr size_t kWidth = kHelpColumns - kPurposeColumn;
  std::string lines;
  while (text.size() > kWidth) {
    size_t end = text.rfind(' ', kWidth);
    if (end == std::string_view::npos) end = std::min(text.find(' '), text.size());
    lines += fmt::format("{}\n{:{}}", text.substr(0, end), "", kPurposeColumn);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines + std::string(text);
}

// Puts a name that leaves no room for the purpose on its own line.
std::string help_entry(const std::string& name, const std::string& purpose) {
  const std::string entry = fmt::format("  {:<{}}", name, kPurposeColumn - 2);
  if (entry.size() == kPurposeColumn && entry.back() == ' ') {
    return fmt::format("{}{}\n", entry, wrap_purpose(purpose));
  }
  return fmt::format("  {}\n{:{}}{}\n", name, "", kPurposeColumn, wrap_purpose(purpose));
}

std::string option_name(const CLI::Option& option) {
  std::string name;
  for (const std::string& letter : option.get_snames()) name = "-" + letter;
  for (const std::string& word : option.get_lnames()) {
    name += (name.empty() ? "--" : ", --") + word;
  }
  if (option.get_type_size() == 0 || option.get_type_name().empty()) return name;
  const std::string type = option.get_type_name();
  return option.get_expected_min() == 0 ? fmt::format("{} [{}]", name, type) : name + " " + type;
}

std::string usage_line(const CLI::App& app, const std::string& name) {
  std::string line = fmt::format("Usage: {} [OPTIONS]", name);
  const auto all = [](const CLI::App* /*command*/) { return true; };
  const bool commands = !app.get_subcommands(all).empty();
  if (commands && app.get_require_subcommand_min() != 0) line += " COMMAND";
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) continue;
    const bool many = option->get_expected_max() > 2;
    const std::string type = option->get_type_name();
    const std::string value = type.empty() ? option->get_name(true, false) : type;
    const std::string text = value + (many ? "..." : "");
    line += option->get_required() ? " " + text : fmt::format(" [{}]", text);
  }
  return line + "\n";
}

std::string help_group(const CLI::App& app, const std::string& group, const char* title) {
  std::string text;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->nonpositional() || option->get_group() != group) continue;
    text += help_entry(option_name(*option), option->get_description());
  }
  return text.empty() ? text : fmt::format("\n{}:\n{}", title, text);
}

}  // namespace

void set_common_options(CLI::App& app, std::initializer_list<const char*> names) {
  for (const char* name : names) app.get_option(name)->group(kCommonGroup);
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name,
                                     CLI::AppFormatMode /*mode*/) const {
  if (name.empty()) name = app->get_name();
  std::string text = app->get_description() + "\n\n" + usage_line(*app, name);
  if (!app->get_footer().empty()) text += "\n" + app->get_footer() + "\n";
  std::string arguments;
  for (const CLI::Option* option : app->get_options()) {
    if (!option->get_positional()) continue;
    const std::string type = option->get_type_name();
    arguments +=
        help_entry(type.empty() ? option->get_name(true, false) : type, option->get_description());
  }
  if (!arguments.empty()) text += "\nArguments:\n" + arguments;
  std::string commands;
  const auto all = [](const CLI::App* /*command*/) { return true; };
  for (const CLI::App* command : app->get_subcommands(all)) {
    commands += help_entry(command->get_name(), command->get_description());
  }
  if (!commands.empty()) text += "\nCommands:\n" + commands;
  for (const char* group : kHelpGroups) text += help_group(*app, group, group);
  text += help_group(*app, "Options", "Other options");
  const CLI::App* parent = app->get_parent();
  const CLI::App* command = parent != nullptr && parent->get_parent() != nullptr ? parent : app;
  if (parent != nullptr) {
    text +=
        fmt::format("\nSee htmtrace-{}(1) for details and exit statuses.\n", command->get_name());
  } else {
    text += "\nSee htmtrace(1), and htmtrace COMMAND --help.\n";
  }
  return text;
}

}  // namespace htmtrace
