// SPDX-License-Identifier: GPL-2.0-or-later
// Checks of the kernel and of this process, without the trace macros. `root` replaces "/", so that
// tests can imitate a machine with files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "cli/doctor/finding.h"
#include "core/base/target.h"

namespace htmtrace {

// The privileges of this process.
struct Privileges {
  uint64_t effective_capabilities = 0;
  uint64_t lock_limit_bytes = 0;  // RLIMIT_MEMLOCK; all ones: no limit
};
Privileges own_privileges(const std::filesystem::path& root);

// A partition of an IBM POWER machine, under PowerVM.
Finding check_machine(const std::filesystem::path& root);
// What htmtrace knows of the processor's trace formats.
Finding check_formats(const std::filesystem::path& root);
// kernel.perf_event_paranoid, CAP_PERFMON.
Finding check_permission(const std::filesystem::path& root, const Privileges& own);
// Checks that the usual rings of `targets` targets can be mapped.
Finding check_memory_lock(const std::filesystem::path& root, const Privileges& own, size_t targets,
                          uint64_t bytes_for_each);
// The page size, which is the unit of rings.
Finding check_pages();
// tracefs, where tracepoints are described.
Finding check_tracefs(const std::filesystem::path& root);
// Enough carrier CPUs; `usable` may carry events.
Finding check_carriers(size_t targets, size_t usable);
// Core traces need the core to run one thread.
Finding check_threads(const std::filesystem::path& root, bool core_trace);
// The folder can be written to, and has room for `bytes` (0: not known).
Finding check_disk(const std::filesystem::path& folder, uint64_t bytes);
// Returns a finding if the folder holds an earlier recording, which `record` does not replace.
std::vector<Finding> check_folder(const std::filesystem::path& folder,
                                  const std::vector<TraceTarget>& targets);

}  // namespace htmtrace
