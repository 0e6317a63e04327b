// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/version.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <CLI/Version.hpp>
#include <string>
#include <vector>

#include "core/base/processor.h"
#include "output/io/libraries.h"

namespace htmtrace {
namespace {

constexpr const char* kCompiler =
#ifdef __clang__
    "Clang " __clang_version__;
#else
    "GCC " __VERSION__;
#endif

constexpr const char* kSanitized =
#ifdef __SANITIZE_ADDRESS__
    ", ASan and UBSan";
#else
    "";
#endif

}  // namespace

std::string version_text() {
  std::vector<std::string> libraries = {"CLI11 " CLI11_VERSION};
  for (const Library& each : used_libraries()) {
    libraries.push_back(each.version.empty() ? each.name
                                             : fmt::format("{} {}", each.name, each.version));
  }
  std::string text = "htmtrace " HTMTRACE_VERSION "\n";
  text += fmt::format("build: {}{}, {}\n", HTMTRACE_BUILD, kSanitized, kCompiler);
  text += fmt::format("libraries: {}\n", fmt::join(libraries, ", "));
  if (const std::vector<std::string> absent = absent_libraries(); !absent.empty()) {
    text += fmt::format("without: {}\n", fmt::join(absent, ", "));
  }
  text += "processors:\n";
  for (const std::string& each : describe_processors()) text += fmt::format("  {}\n", each);
  text.pop_back();  // CLI11 ends the line
  return text;
}

}  // namespace htmtrace
