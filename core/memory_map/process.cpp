// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/memory_map/process.h"

#include <utility>

namespace htmtrace {

const Process& Process::unknown() {
  static const Process process;
  return process;
}

const Process& Process::kernel() {
  static const Process process{.kind = Kind::kKernel, .name = "kernel"};
  return process;
}

Process Process::of(uint64_t pid, std::string command) {
  std::string name = command + ":" + std::to_string(pid);
  return {
      .kind = Kind::kProcess, .pid = pid, .command = std::move(command), .name = std::move(name)};
}

}  // namespace htmtrace
