// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/record/recording_sum.h"

#include <fmt/core.h>

namespace htmtrace {

void RecordingSum::add(const Capture& capture) {
  const Manifest& manifest = capture.manifest();
  traces_++;
  for (const Manifest::Target& target : manifest.targets) bytes_ += target.trace_bytes;
  failed_ += manifest.state == Manifest::State::kFailed ? 1 : 0;
  incomplete_ += manifest.state == Manifest::State::kIncomplete ? 1 : 0;
  proven_ += capture.proven() ? 1 : 0;
  last_lines_ = capture.summary();
}

std::string RecordingSum::line(const std::filesystem::path& folder) const {
  const uint64_t bad = failed_ + incomplete_;
  const std::string verdict = bad != 0   ? fmt::format("{} of them have losses", bad)
                              : proven() ? "nothing lost, proven by the driver's count"
                                         : "nothing lost, but this cannot be proven";
  const std::string kept =
      removed_ != 0 ? fmt::format(", of which the newest {} are kept", traces_ - removed_) : "";
  return fmt::format("{} recordings{}, {} bytes of trace in {}; {}", traces_, kept, bytes_,
                     folder.string(), verdict);
}

}  // namespace htmtrace
