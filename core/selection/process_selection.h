// SPDX-License-Identifier: GPL-2.0-or-later
// The processes that the user selects with --process. Each text is a command, a PID, COMMAND:PID,
// kernel or unknown.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/memory_map/process.h"

namespace htmtrace {

class ProcessSelection {
 public:
  // Selects all processes.
  ProcessSelection() = default;
  explicit ProcessSelection(std::vector<std::string> texts) : texts_(std::move(texts)) {}

  bool holds(const Process& process) const {
    return texts_.empty() || std::ranges::any_of(texts_, [&](const std::string& text) {
             return names(text, process);
           });
  }

  // Returns whether the text selects this process. It may also select other processes.
  static bool names(const std::string& text, const Process& process) {
    if (text == process.name) return true;
    // A process may have one of these names as its command. COMMAND:PID or its PID selects it.
    if (text == Process::kernel().name || text == Process::unknown().name) return false;
    return process.kind == Process::Kind::kProcess &&
           (text == process.command || text == std::to_string(process.pid));
  }

 private:
  std::vector<std::string> texts_;
};

}  // namespace htmtrace
