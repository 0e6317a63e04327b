// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/htmdecode.h"

#include <filesystem>
#include <string_view>

#include "core/base/error.h"

namespace htmtrace {

bool is_htmdecode(const char* program) {
  return program != nullptr && std::filesystem::path(program).filename() == "htmdecode";
}

std::vector<std::string> htmdecode_arguments(int argc, const char* const* argv) {
  std::string file;
  for (int i = 1; i < argc; i++) {
    const std::string_view argument = argv[i];
    if (argument == "-o" || argument == "-j")
      continue;  // print options: htmtrace has only one format here
    const bool valued = argument == "-w" || argument == "-f";
    if (!valued || i + 1 == argc) {
      throw Error("cannot run as htmdecode with argument " + std::string(argument))
          .hint("htmdecode accepts -o -j -w N -f FILE; for other options run htmtrace");
    }
    i++;
    if (argument == "-f") file = argv[i];
  }
  if (file.empty()) throw Error("cannot run as htmdecode: -f FILE is missing");
  return {"decode", "--type", "nest", "--format", "htmdecode", "--", file};
}

}  // namespace htmtrace
