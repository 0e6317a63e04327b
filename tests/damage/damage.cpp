// SPDX-License-Identifier: GPL-2.0-or-later
// damage COUNT: decodes COUNT damaged traces of each kind, each a few pages long, to text. The
// damage is random but equal in each run.
//
// Fails if a trace exceeds the time limit, or if a byte is not accounted for. Also fails if pieces,
// several threads or a start in the middle change the text, or if the summary counts differ. The
// sanitizers detect misuse of memory.
#include <fmt/core.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string_view>

#include "tests/damage/damaged_traces.h"

namespace {

[[noreturn]] void give_up(int) {
  constexpr std::string_view kText = "damage: an input took too long\n";
  if (::write(STDERR_FILENO, kText.data(), kText.size()) < 0) std::_Exit(2);
  std::_Exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned count = argc == 2 ? static_cast<unsigned>(std::strtoul(argv[1], nullptr, 10)) : 0;
  if (count == 0) {
    fmt::print(stderr, "usage: damage COUNT\n");
    return 2;
  }
  std::signal(SIGALRM, give_up);
  htmtrace::decode_damaged_core_traces(count);
  htmtrace::decode_damaged_nest_traces(count);
  return 0;
}
