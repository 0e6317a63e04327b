// SPDX-License-Identifier: GPL-2.0-or-later
// What a refusal by the kernel, the htm driver or the hypervisor means, and what to do about it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/error.h"
#include "core/trace_target.h"

namespace htmtrace {

// The htm PMU is not there.
Error missing_htm_pmu(const std::filesystem::path& pmu_root);

// perf_event_open() for `target` on `cpu` gave `error_number`.
Error explain_open_failure(int error_number, const TraceTarget& target, int cpu);

// The hypervisor refused `operation` (its number in the H_HTM call) after the event was open.
// `error_number` is the driver's errno for `return_code`.
Error explain_refusal(unsigned operation, int error_number, int32_t return_code,
                      const TraceTarget& target, int cpu);

// The event does not run, or brings nothing, and nobody says why: a CPU that went offline, or one
// of the public drivers, which tell no reasons.
Error explain_silence(const TraceTarget& target, int cpu);

// The kernel or the htm driver refuses to have a trace paused and resumed by other events.
Error explain_no_pausing(int error_number, const TraceTarget& target, int cpu);

// perf_event_open() for an event that shall pause or resume gave `error_number`, whatever its
// group.
Error explain_trigger_failure(int error_number, const std::string& trigger, int cpu);

// "H_AUTHORITY (-10)".
std::string describe_return_code(int32_t return_code);

// Whether the kernel says that `cpu` is online.
bool cpu_is_online(int cpu);

}  // namespace htmtrace
