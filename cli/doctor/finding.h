// SPDX-License-Identifier: GPL-2.0-or-later
// The finding of `htmtrace doctor` about one requirement of a recording.
#pragma once

#include <string>
#include <vector>

namespace htmtrace {

struct Finding {
  enum class Verdict {
    kGood,
    kNotice,   // a recording works, but with a limitation
    kUnknown,  // cannot be determined
    kBad,      // a recording would fail
  };
  Verdict verdict = Verdict::kGood;
  std::string subject;              // "permission"
  std::string what;                 // "perf_event_paranoid is 2 and CAP_PERFMON is missing"
  std::string why;                  // the consequence; empty if there is no problem
  std::vector<std::string> advice;  // commands or other actions
};

}  // namespace htmtrace
