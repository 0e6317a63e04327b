// SPDX-License-Identifier: GPL-2.0-or-later
// Ends the process with a message if an input exceeds the time limit.
#pragma once

#include <unistd.h>

namespace htmtrace {

class TimeLimit {
 public:
  TimeLimit() { ::alarm(kSeconds); }
  ~TimeLimit() { ::alarm(0); }
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

 private:
  static constexpr unsigned kSeconds = 20;  // under sanitizers on a busy machine; usually 0.01
};

}  // namespace htmtrace
