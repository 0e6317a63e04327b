// SPDX-License-Identifier: GPL-2.0-or-later
// Dispatch trace logs in files of htmtrace and of perf. A perf.data file is converted to a
// temporary recording of htmtrace. The end of this recording reports the losses of perf.
#pragma once

#include <filesystem>
#include <optional>

#include "output/io/scratch_file.h"

namespace htmtrace {

// Returns true for a regular file that `htmtrace dtl` recorded, or that perf recorded with vpa_dtl
// events but no htm events. Throws Error if it cannot read the file.
bool is_dispatch_log(const std::filesystem::path& path);

// Returns true for a regular file that perf recorded, and for a file that cannot be read now: the
// reader that follows reports the error, or reads a file that perf recorded.
bool may_be_perf_data(const std::filesystem::path& path);

// A file of either kind, as a recording of htmtrace.
class DtlInput {
 public:
  // Throws Error.
  explicit DtlInput(const std::filesystem::path& path);

  // Valid while this object exists.
  const std::filesystem::path& recording() const { return recording_; }

 private:
  std::optional<ScratchFile> scratch_;
  std::filesystem::path recording_;
};

// Appends the recording to an empty file. Throws Error.
void import_perf_recording(const std::filesystem::path& path, ScratchFile& recording);

}  // namespace htmtrace
