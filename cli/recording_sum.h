// SPDX-License-Identifier: GPL-2.0-or-later
// What a run of `htmtrace record` tells at its end of all the traces that it made.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/capture.h"

namespace htmtrace {

class RecordingSum {
 public:
  // A trace that has been settled.
  void add(const Capture& capture);
  // Its folder was removed to make room for a newer one.
  void removed_one() { removed_++; }

  uint64_t traces() const { return traces_; }
  uint64_t bytes() const { return bytes_; }
  uint64_t incomplete() const { return incomplete_; }
  uint64_t failed() const { return failed_; }

  // Of the latest trace.
  const std::vector<std::string>& last_lines() const { return last_lines_; }
  // Of all of them, in `folder`.
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
