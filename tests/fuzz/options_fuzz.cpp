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

Action declare(CLI::App& app, unsigned command) {
  static Signals signals;
  switch (command % 12) {
    case 0:
      return declare_decode(app);
    case 1:
      return declare_record(app, signals);
    case 2:
      return declare_report(app);
    case 3:
      return declare_diff(app);
    case 4:
      return declare_index(app);
    case 5:
      return declare_dtl(app, signals);
    case 6:
      return declare_list(app);
    case 7:
      return declare_doctor(app);
    case 8:
      return declare_annotate(app);
    case 9:
      return declare_replay(app);
    case 10:
      return declare_stop(app);
    default:
      return declare_locate(app);
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
  const Action action = declare(app, data[0]);  // owns the values of the options
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError&) {
    return 0;  // rejected, or a request for help
  } catch (const Error&) {
    return 0;
  }
  return 0;
}
