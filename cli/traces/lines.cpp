// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/traces/lines.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "cli/help.h"
#include "cli/messages.h"
#include "core/base/error.h"
#include "core/base/plain_text.h"
#include "output/source_lines/line_texts.h"

namespace htmtrace {

void declare_debug_folders(CLI::App& app, LineOptions& options) {
  app.option_defaults()->group(kSymbolGroup);
  app.add_option("--debug-dir", options.debug_folders,
                 "Folder of separate debug files [/usr/lib/debug]")
      ->type_name("DIR")
      ->allow_extra_args(false)
      ->default_str("");
}

void add_debug_inputs(const LineOptions& options, std::vector<std::string>& inputs) {
  std::vector<std::string> files = options.debug_folders;
  for (const std::string& program : inputs) {
    if (program.empty()) continue;
    for (const auto& file : debug_files_beside(program)) files.push_back(file.string());
  }
  inputs.insert(inputs.end(), files.begin(), files.end());
}

DebugFolders folders_of(const LineOptions& options) {
  DebugFolders folders;
  folders.folders.insert(folders.folders.begin(), options.debug_folders.begin(),
                         options.debug_folders.end());
  return folders;
}

void check_lines(const SymbolTable& symbols) {
  if (!can_read_lines()) {
    throw Error("cannot read source lines or inlined functions: htmtrace was built without libdw");
  }
  if (symbols.files().empty()) {
    throw Error("cannot read source lines or inlined functions: no program file found")
        .hint("pass --elf PROGRAM, or record with --symbols");
  }
}

std::unique_ptr<SourceFiles> open_lines(const SymbolTable& symbols, const LineOptions& options) {
  check_lines(symbols);
  return std::make_unique<SourceFiles>(symbols, folders_of(options));
}

FindInlined inlined_by(SourceFiles& files) {
  return [&files](EffectiveAddr address) {
    std::vector<std::string_view> names;
    const DebugInfo::Span span = files.find_inlined(address, names);
    InlinedFunctions inlined{.begin = span.begin, .end = span.end, .names = {}};
    const char* const mark = proof_mark(!owned::is_unproven(address.value));
    inlined.names.reserve(names.size());
    for (const std::string_view name : names) {
      inlined.names.push_back(fmt::format("{}{}", name.empty() ? "?" : name, mark));
    }
    return inlined;
  };
}

void warn_of_lines(const std::vector<std::string>& problems) {
  constexpr size_t kMostShown = 5;
  for (size_t i = 0; i < std::min(problems.size(), kMostShown); i++) {
    print_warning(without_controls(problems[i]));
  }
  if (problems.size() > kMostShown) {
    print_warning(fmt::format("{} more files have no source lines", problems.size() - kMostShown));
  }
}

}  // namespace htmtrace
