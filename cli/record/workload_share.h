// SPDX-License-Identifier: GPL-2.0-or-later
// The workload's share of a core trace: the instructions in the pages of the program files that the
// workload executed and that no other process had mapped when the recording began.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/record/workload_watch.h"
#include "core/base/fd.h"

namespace htmtrace {

// All files that processes have mapped executable now.
std::set<FileId> executed_files(const std::filesystem::path& proc);

// The logical addresses of the pages of these files that are in memory, ascending.
struct ProgramPages {
  std::vector<uint64_t> pages;
  uint64_t page_bytes = 0;
  bool all = true;      // false: executed code of the files is missing
  std::string trouble;  // the reason if `pages` is empty
};
// `pagemap` is this process's; see open_own_pagemap().
ProgramPages find_program_pages(const std::set<ExecutedFile>& files,
                                const std::set<FileId>& shared_files, const Fd& pagemap);

// The kernel shows frame numbers through this descriptor even after this process has given up its
// privileges. Empty if the file cannot be opened.
Fd open_own_pagemap();

struct WorkloadShare {
  uint64_t own = 0;           // instructions in the workload's pages
  uint64_t instructions = 0;  // all counted instructions
  uint64_t untranslated = 0;  // counted instructions without a logical address
  bool all = true;            // the whole trace was counted
  bool damaged = false;       // instructions of the trace are lost, or cannot be decoded
  double percent() const {
    return instructions == 0 ? 0
                             : 100.0 * static_cast<double>(own) / static_cast<double>(instructions);
  }
};

// Adds the counts of the trace file. Stops at `until`. Throws Error.
void add_share(const std::filesystem::path& trace, const std::filesystem::path& translation,
               std::optional<uint32_t> partition, const ProgramPages& pages,
               std::chrono::steady_clock::time_point until, WorkloadShare& share);

}  // namespace htmtrace
