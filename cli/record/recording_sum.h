// SPDX-License-Identifier: GPL-2.0-or-later
// The summary of all traces of a run of `htmtrace record`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/record/capture.h"

namespace htmtrace {

class RecordingSum {
 public:
  // Adds a finished trace.
  void add(const Capture& capture);
  // Notes that the folder of a trace was removed for a newer trace.
  void removed_one() { removed_++; }

  uint64_t traces() const { return traces_; }
  uint64_t bytes() const { return bytes_; }
  uint64_t incomplete() const { return incomplete_; }
  uint64_t failed() const { return failed_; }
  // The drivers' counts prove that every trace is complete, and no other data is missing.
  bool proven() const { return proven_ == traces_ && incomplete_ + failed_ == 0; }

  // Describes the latest trace.
  const std::vector<std::string>& last_lines() const { return last_lines_; }
  // Describes all traces, in `folder`.
  std::string line(const std::filesystem::path& folder) const;

 private:
  uint64_t traces_ = 0;
  uint64_t bytes_ = 0;
  uint64_t incomplete_ = 0;
  uint64_t failed_ = 0;
  uint64_t proven_ = 0;
  uint64_t removed_ = 0;
  std::vector<std::string> last_lines_;
};

}  // namespace htmtrace
