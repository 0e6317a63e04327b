// SPDX-License-Identifier: GPL-2.0-or-later
// Checks of the driver and the trace macros for `htmtrace doctor`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/doctor/finding.h"
#include "core/base/target.h"

namespace htmtrace {

bool driver_is_loaded(const std::filesystem::path& root);
bool has_own_driver(const std::filesystem::path& root);

// Returns the driver that is installed for kernel `release`: htm.ko, compressed or not.
std::optional<std::filesystem::path> find_module(const std::filesystem::path& root,
                                                 const std::string& release);
// Checks the htm PMU and the owner of its driver. Without a driver, explains how to get it for
// kernel `release`. `installed`: the driver is installed, but perhaps not loaded. `loads_unsigned`:
// the kernel loads modules without a signature.
Finding check_driver(const std::filesystem::path& root, const std::string& release, bool installed,
                     bool loads_unsigned);
// Checks the driver of the dispatch trace log.
Finding check_dispatch_log(const std::filesystem::path& root);
// The kernel's htmdump, which drives the same macros.
Finding check_htmdump(const std::filesystem::path& root);
// The trace memory of each type among the targets. Adds what all targets can fill to `bytes`.
std::vector<Finding> check_trace_memory(const std::filesystem::path& root,
                                        const std::vector<TraceTarget>& targets, uint64_t& bytes);

}  // namespace htmtrace
