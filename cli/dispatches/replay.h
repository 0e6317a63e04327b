// SPDX-License-Identifier: GPL-2.0-or-later
// What a recording of `htmtrace dtl` holds, for people or for other programs.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/dispatches/output.h"

namespace htmtrace {

struct DtlReplay {
  std::filesystem::path input;
  std::string name;       // of what is read, for people
  std::vector<int> cpus;  // empty: all
  // Nanoseconds of perf's clock.
  std::optional<uint64_t> from_ns, to_ns;
  bool check = false;  // a summary is made from the entries, and the file's statistics compared
  bool quiet = false;  // print only problems on stderr
};

// Returns true if the recording has task switches. Throws Error.
bool tells_tasks(const std::filesystem::path& recording);

// These functions return the exit status and throw Error.
int replay_dtl(const DtlReplay& replay, const DtlOutputOptions& options,
               TextOutput text = TextOutput::standard_output());
// For Perfetto; refuses what would be too large for it.
int export_timeline(const DtlReplay& replay, const std::filesystem::path& path, Existing existing);
// Writes a perf.data file.
int export_dtl(const DtlReplay& replay, const std::filesystem::path& path, Existing existing);

}  // namespace htmtrace
