// SPDX-License-Identifier: GPL-2.0-or-later
// Dispatch trace logs in files of ours and of perf. What perf recorded is made a recording as ours
// are, for the time of the command, and that is read. What perf lost becomes the recording's own
// verdict.
#pragma once

#include <filesystem>
#include <optional>

namespace htmtrace {

// True for a regular file that `htmtrace dtl` recorded, or perf with events of vpa_dtl but none of
// htm. Throws Error when it cannot be read.
bool is_dispatch_log(const std::filesystem::path& path);

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

// A file of either kind, to be read as a recording of ours.
class DtlInput {
 public:
  // Throws Error.
  explicit DtlInput(const std::filesystem::path& path);

  // Valid while this object lives.
  const std::filesystem::path& recording() const { return recording_; }

 private:
  std::optional<ScratchFolder> folder_;
  std::filesystem::path recording_;
};

// Writes `recording`. Throws Error.
void import_perf_recording(const std::filesystem::path& path,
                           const std::filesystem::path& recording);

}  // namespace htmtrace
