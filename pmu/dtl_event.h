// SPDX-License-Identifier: GPL-2.0-or-later
// The dispatch trace log as an event of the vpa_dtl PMU.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/error.h"
#include "pmu/event_attr.h"
#include "pmu/pmu_description.h"

namespace htmtrace {

inline constexpr const char* kDtlPmu = "vpa_dtl";
// The kernel's own driver raises a shorter period to this one silently.
inline constexpr uint64_t kLeastDtlPeriodNs = 1'000'000;
// No driver takes a shorter one.
inline constexpr uint64_t kLeastOwnDtlPeriodNs = 100'000;

// True if the PMU under `pmu_root` belongs to htmtrace's own driver, kmod/vpa_dtl_pmu.c, which has
// the kernel's events and entries but flags each loss (kmod/ABI-vpa_dtl).
bool is_own_dtl_driver(const std::filesystem::path& pmu_root);
// For people: "htmtrace's vpa_dtl, which flags each loss".
const char* describe_dtl_driver(bool own);

// `event` is all, cede, preempt or fault; `period_ns` is how often the driver looks at the log.
// Throws Error.
EventAttr dtl_event_attr(const PmuDescription& pmu, const std::string& event, uint64_t period_ns);

Error missing_dtl_pmu(const std::filesystem::path& pmu_root);
Error explain_dtl_open_failure(int error_number, const std::string& event, int cpu);

}  // namespace htmtrace
