// SPDX-License-Identifier: GPL-2.0-or-later
// What `htmtrace doctor` has found about one thing that a recording needs.
#pragma once

#include <string>
#include <vector>

namespace htmtrace {

struct Finding {
  enum class Verdict {
    kGood,
    kNotice,   // a recording works, but perhaps not as one would expect
    kUnknown,  // cannot be seen from here
    kBad,      // a recording would fail
  };
  Verdict verdict = Verdict::kGood;
  std::string subject;              // "permission"
  std::string what;                 // "perf_event_paranoid is 2 and CAP_PERFMON is missing"
  std::string why;                  // what follows from it; empty when all is well
  std::vector<std::string> advice;  // commands, or what else to do
};

}  // namespace htmtrace
