// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/htmdecode.h"

#include <filesystem>
#include <string_view>

#include "core/error.h"

namespace htmtrace {

bool is_htmdecode(const char* program) {
  return program != nullptr && std::filesystem::path(program).filename() == "htmdecode";
}

std::vector<std::string> htmdecode_arguments(int argc, const char* const* argv) {
  std::string file;
  for (int i = 1; i < argc; i++) {
    const std::string_view argument = argv[i];
    if (argument == "-o" || argument == "-j") continue;  // how to print: there is one way here
    const bool valued = argument == "-w" || argument == "-f";
    if (!valued || i + 1 == argc) {
      throw Error("cannot be htmdecode with argument " + std::string(argument))
          .hint("as htmdecode it takes -o -j -w N -f FILE; otherwise call it htmtrace");
    }
    i++;
    if (argument == "-f") file = argv[i];
  }
  if (file.empty()) throw Error("cannot be htmdecode: no -f FILE is given");
  return {"decode", "--type", "nest", "--format", "htmdecode", "--", file};
}

}  // namespace htmtrace
