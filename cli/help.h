// SPDX-License-Identifier: GPL-2.0-or-later
// The layout of --help: lines of at most 80 columns, with the examples and the most-used options
// above the rest.
#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <string>

namespace htmtrace {

// The groups of options, in the order of the help.
inline constexpr const char* kCommonGroup = "Common options";
inline constexpr const char* kInputGroup = "Input";
inline constexpr const char* kTargetGroup = "Targets";
inline constexpr const char* kScheduleGroup = "Start and end";
inline constexpr const char* kScriptGroup = "Scripts";
inline constexpr const char* kTriggerGroup = "Triggers";
inline constexpr const char* kRingGroup = "Rings and driver";
inline constexpr const char* kSelectionGroup = "Selection";
inline constexpr const char* kSymbolGroup = "Symbols";
inline constexpr const char* kReportGroup = "Report";
inline constexpr const char* kOutputGroup = "Output";

// Moves the named options of a command to kCommonGroup. Call it after all options are declared.
void set_common_options(CLI::App& app, std::initializer_list<const char*> names);

// Prints the help of an App. The footer of an App holds its examples, which follow the usage line.
class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
};

}  // namespace htmtrace
