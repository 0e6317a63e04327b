// SPDX-License-Identifier: GPL-2.0-or-later
// `htmtrace dtl --input perf.data`: what perf recorded is made a recording as ours are, for the
// time of the command, and that is read. What perf lost becomes the recording's own verdict.
#pragma once

#include <filesystem>

namespace htmtrace {

// A folder for a file that is needed while a command runs.
class ScratchFolder {
 public:
  // Throws Error.
  ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// True for a regular file that begins like a file of perf. Throws Error when it cannot be read.
bool is_perf_recording(const std::filesystem::path& path);

// Writes `recording`. Throws Error.
void import_perf_recording(const std::filesystem::path& path,
                           const std::filesystem::path& recording);

}  // namespace htmtrace
