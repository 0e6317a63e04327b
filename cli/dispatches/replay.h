// SPDX-License-Identifier: GPL-2.0-or-later
// Prints a recording of `htmtrace dtl`, or converts it for other programs.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/dispatches/output.h"

namespace htmtrace {

struct DtlReplay {
  std::filesystem::path input;
  std::string name;       // the name of the input in messages
  std::vector<int> cpus;  // empty: all
  // Nanoseconds of perf's clock.
  std::optional<uint64_t> from_ns, to_ns;
  std::filesystem::path metrics;  // file for the metrics of the selected entries; empty: none
  // Recordings of the partitions that may have run during the waits; empty: no merge.
  std::vector<std::string> merged;
  bool check = false;  // summarize the entries, and compare the file's statistics with them
  bool quiet = false;  // print only problems on stderr
};

// Returns true if the recording has task switches. Throws Error.
bool tells_tasks(const std::filesystem::path& recording);

// These functions return the exit status and throw Error.
int replay_dtl(const DtlReplay& replay, const DtlOutputOptions& options,
               TextOutput text = TextOutput::standard_output());
// Writes a timeline for Perfetto. Refuses a recording whose timeline would be too large for
// Perfetto.
int export_timeline(const DtlReplay& replay, const std::filesystem::path& path, Existing existing);
// Writes a perf.data file.
int export_dtl(const DtlReplay& replay, const std::filesystem::path& path, Existing existing);

}  // namespace htmtrace
