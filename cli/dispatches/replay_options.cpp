// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/dispatches/replay_options.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/error.h"

namespace htmtrace {

bool is_one_dispatch_log(const std::vector<std::string>& paths) {
  return paths.size() == 1 && paths.front() != "-" && is_dispatch_log(paths.front());
}

void check_dispatch_log_options(const CLI::App& command, const std::string& file,
                                std::initializer_list<std::string_view> usable) {
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_single_name();
    if (option->count() == 0 || std::ranges::find(usable, name) != usable.end()) continue;
    throw Error(fmt::format("--{} cannot be used with {}: it is a dispatch trace log", name, file))
        .hint("htmtrace dtl --input " + file + " has more options");
  }
}

void refuse_dispatch_log_format(const std::string& file, const char* formats) {
  throw Error(
      fmt::format("cannot write {} in this format: it is a dispatch trace log, {}", file, formats))
      .hint("other formats: htmtrace dtl --input FILE --format FORMAT");
}

DtlReplay replay_of(const std::string& file, const DtlInput& input) {
  DtlReplay replay;
  replay.input = input.recording();
  replay.name = file;
  return replay;
}

}  // namespace htmtrace
