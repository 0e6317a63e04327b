// SPDX-License-Identifier: GPL-2.0-or-later
// Explains refusals by the kernel, the htm driver or the hypervisor, with hints for the user.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/base/error.h"
#include "core/base/target.h"

namespace htmtrace {

// The htm PMU does not exist.
Error missing_htm_pmu(const std::filesystem::path& pmu_root);

// perf_event_open() for `target` on `cpu` failed with `error_number`.
Error explain_open_failure(int error_number, const TraceTarget& target, int cpu);

// The hypervisor refused `operation` (number in the H_HTM call) after the event was open.
// `error_number` is the driver's errno for `return_code`.
Error explain_refusal(unsigned operation, int error_number, int32_t return_code,
                      const TraceTarget& target, int cpu);

// The event does not run or delivers nothing, and no party reports a reason. Typical causes are an
// offline CPU and the public drivers, which report no reasons.
Error explain_silence(const TraceTarget& target, int cpu);

// The kernel or the htm driver does not allow other events to pause and resume the trace.
Error explain_no_pausing(int error_number, const TraceTarget& target, int cpu);

// perf_event_open() for an event that pauses or resumes the trace failed with `error_number`, with
// or without a group.
Error explain_trigger_failure(int error_number, const std::string& trigger, int cpu);

// Returns the reasons that an explanation states, without their marks; empty if it states none.
std::string stated_reasons(const Error& error);

// "H_AUTHORITY (-10)".
std::string describe_return_code(int32_t return_code);

// True if the kernel reports `cpu` as online.
bool cpu_is_online(int cpu);

}  // namespace htmtrace
