// SPDX-License-Identifier: GPL-2.0-or-later
// An Error ends the command: cli/main.cpp prints it and sets the exit status.
#pragma once

#include <cstring>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace htmtrace {

// States the failure with the system's reason, its subjects and the hints. main prints:
//
//   htmtrace: cannot open event htm/.../: Permission denied
//     target: node=0,chip=1,core=12,type=core  carrier cpu: 8
//     hint: grant CAP_PERFMON or run as root (kernel.perf_event_paranoid is 2)
class Error : public std::exception {
 public:
  explicit Error(std::string what_failed) : what_(std::move(what_failed)) {}

  // Appends ": <text of errno_value>", as perror does.
  Error(const std::string& what_failed, int errno_value)
      : what_(what_failed + ": " + std::strerror(errno_value)) {}

  // Returns by value: a returned reference would make `error = std::move(error).on(...)` a
  // self-move.
  Error on(std::string subject) && {
    subjects_.push_back(std::move(subject));
    return std::move(*this);
  }
  Error hint(std::string advice) && {
    hints_.push_back(std::move(advice));
    return std::move(*this);
  }

  // The same error with a prefix: "PREFIX: original text".
  Error about(const std::string& what_failed) const {
    Error error = *this;
    error.what_ = what_failed + ": " + what_;
    return error;
  }

  const char* what() const noexcept override { return what_.c_str(); }
  const std::vector<std::string>& subjects() const { return subjects_; }
  const std::vector<std::string>& hints() const { return hints_; }

 private:
  std::string what_;
  std::vector<std::string> subjects_;
  std::vector<std::string> hints_;
};

}  // namespace htmtrace
