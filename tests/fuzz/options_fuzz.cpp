// SPDX-License-Identifier: GPL-2.0-or-later
// Any lines as the arguments of any command. Only parses: no command runs.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "cli/signals.h"
#include "core/base/error.h"

namespace {

using namespace htmtrace;

void declare(CLI::App& app, unsigned command) {
  static Signals signals;
  switch (command % 8) {
    case 0:
      declare_decode(app);
      return;
    case 1:
      declare_record(app, signals);
      return;
    case 2:
      declare_report(app);
      return;
    case 3:
      declare_diff(app);
      return;
    case 4:
      declare_index(app);
      return;
    case 5:
      declare_dtl(app, signals);
      return;
    case 6:
      declare_list(app);
      return;
    default:
      declare_doctor(app);
      return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::vector<std::string> arguments;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    arguments.emplace_back(line);
  }
  std::reverse(arguments.begin(), arguments.end());  // CLI11 expects the reverse order
  CLI::App app{"fuzz", "htmtrace"};
  declare(app, data[0]);
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError&) {
    return 0;  // rejected, or a request for help
  } catch (const Error&) {
    return 0;
  }
  return 0;
}
