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
// The driver raises a shorter period to this one without a word.
inline constexpr uint64_t kLeastDtlPeriodNs = 1'000'000;

// `event` is all, cede, preempt or fault; `period_ns` is how often the driver looks at the log.
// Throws Error.
EventAttr dtl_event_attr(const PmuDescription& pmu, const std::string& event, uint64_t period_ns);

Error missing_dtl_pmu(const std::filesystem::path& pmu_root);
Error explain_dtl_open_failure(int error_number, const std::string& event, int cpu);

}  // namespace htmtrace
