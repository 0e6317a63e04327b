// SPDX-License-Identifier: GPL-2.0-or-later
// Names of tasks (comm). Each task has its latest name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/dispatch_log/tasks.h"

namespace htmtrace {

class DtlTaskNames {
 public:
  // Replaces control characters with question marks.
  void set(DtlTask task, std::string_view name);
  // Sets the name unless the task has a name.
  void set_first(DtlTask task, std::string_view name);
  // A new task inherits the name of its creator.
  void inherit(DtlTask task, DtlTask parent);

  // Empty if the name is unknown.
  std::string_view of(DtlTask task) const;

  // For a file: a line "PID TID NAME" for each new name since the last call.
  std::string take_new();
  // Makes the next take_new() return all names, for another file.
  void take_all_again();
  // Reads such lines; skips invalid lines.
  void set_lines(std::string_view lines);

 private:
  // The kernel's names are shorter than this.
  static constexpr size_t kMostLength = 63;
  // Further tasks have no name, only numbers.
  static constexpr size_t kMostNames = 1 << 18;

  std::unordered_map<uint64_t, std::string> names_;
  std::vector<uint64_t> fresh_;
};

}  // namespace htmtrace
