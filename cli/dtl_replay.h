// SPDX-License-Identifier: GPL-2.0-or-later
// `htmtrace dtl --input FILE`: what a recording holds, for people or for other programs.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/dtl_output.h"

namespace htmtrace {

struct DtlReplay {
  std::filesystem::path input;
  std::string name;       // of what is read, for people
  std::vector<int> cpus;  // empty: all
  // On perf's clock, in nanoseconds.
  std::optional<uint64_t> from_ns, to_ns;
  bool check = false;  // a summary is made from the entries, and the file's statistics compared
};

// All return the exit status and throw Error.
int replay_dtl(const DtlReplay& replay, const DtlOutputOptions& output);
// For Perfetto; refuses what would be too large for it.
int export_timeline(const DtlReplay& replay, const std::filesystem::path& path, Existing existing);
// As a perf.data file.
int export_dtl(const DtlReplay& replay, const std::filesystem::path& path, Existing existing);

}  // namespace htmtrace
