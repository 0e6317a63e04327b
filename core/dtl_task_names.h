// SPDX-License-Identifier: GPL-2.0-or-later
// Names of tasks (comm), the last one that each had.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/dtl_tasks.h"

namespace htmtrace {

class DtlTaskNames {
 public:
  // Control characters become question marks.
  void set(DtlTask task, std::string_view name);
  // Unless it has one.
  void set_first(DtlTask task, std::string_view name);
  // A new task has the name of the one that made it.
  void inherit(DtlTask task, DtlTask parent);

  // Empty: none is known.
  std::string_view of(DtlTask task) const;

  // For a file: a line "PID TID NAME" for each that is new since the last call.
  std::string take_new();
  // Such lines; what is none is passed by.
  void set_lines(std::string_view lines);

 private:
  // The kernel's names are shorter than this.
  static constexpr size_t kMostLength = 63;
  // Further tasks are only numbers.
  static constexpr size_t kMostNames = 1 << 18;

  std::unordered_map<uint64_t, std::string> names_;
  std::vector<uint64_t> fresh_;
};

}  // namespace htmtrace
