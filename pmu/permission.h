// SPDX-License-Identifier: GPL-2.0-or-later
// What perf_event_open(2) requires.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace htmtrace {

// From this kernel.perf_event_paranoid on, Debian's kernels require CAP_SYS_ADMIN instead of
// CAP_PERFMON (CONFIG_SECURITY_PERF_EVENTS_RESTRICT; seen with 6.12.95). 3 is Debian's default.
// Mainline kernels treat such a level like 2.
inline constexpr int64_t kAdminParanoidLevel = 3;

// The remedy if perf_event_open(2) fails with EACCES. `root` has the machine's proc.
std::string permission_hint(const std::filesystem::path& root = "/");

}  // namespace htmtrace
