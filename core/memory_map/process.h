// SPDX-License-Identifier: GPL-2.0-or-later
// The process to which an instruction belongs. A trace does not report it:
// core/analysis/process_follower.h finds it.
#pragma once

#include <cstdint>
#include <string>

namespace htmtrace {

struct Process {
  enum class Kind : uint8_t {
    kUnknown,  // nothing proves the owner
    kKernel,   // privileged code, also on behalf of a process
    kProcess,
  };
  Kind kind = Kind::kUnknown;
  uint64_t pid = 0;              // kProcess only
  std::string command = {};      // kProcess only; without control characters
  std::string name = "unknown";  // "COMMAND:PID", "kernel" or "unknown"

  static const Process& unknown();
  static const Process& kernel();
  static Process of(uint64_t pid, std::string command);
};

}  // namespace htmtrace
