// SPDX-License-Identifier: GPL-2.0-or-later
// The dispatch trace log as an event of the vpa_dtl PMU.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/base/error.h"
#include "pmu/description.h"
#include "pmu/event_attr.h"

namespace htmtrace {

inline constexpr const char* kDtlPmu = "vpa_dtl";
// The kernel's own driver silently raises shorter periods to this value.
inline constexpr uint64_t kLeastDtlPeriodNs = 1'000'000;
// htmtrace's own driver raises shorter periods to this value.
inline constexpr uint64_t kLeastOwnDtlPeriodNs = 100'000;

// True if the PMU under `pmu_root` belongs to htmtrace's own driver, kmod/vpa_dtl_pmu.c. This
// driver has the kernel's events and entries, but flags each loss (kmod/ABI-vpa_dtl).
bool is_own_dtl_driver(const std::filesystem::path& pmu_root);
// Text for the user: "htmtrace's vpa_dtl, which flags each loss".
const char* describe_dtl_driver(bool own);

// `event` is all, cede, preempt or fault; `period_ns` is the interval between the driver's reads of
// the log. Throws Error.
EventAttr dtl_event_attr(const PmuDescription& pmu, const std::string& event, uint64_t period_ns);

Error missing_dtl_pmu(const std::filesystem::path& pmu_root);
Error explain_dtl_open_failure(int error_number, const std::string& event, int cpu);

}  // namespace htmtrace
