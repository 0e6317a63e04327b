// SPDX-License-Identifier: GPL-2.0-or-later
// A trace target as an event of the htm PMU.
#pragma once

#include "core/trace_target.h"
#include "pmu/event_attr.h"
#include "pmu/pmu_description.h"

namespace htmtrace {

inline constexpr const char* kHtmPmu = "htm";

// Only htmtrace's own driver has this format term (kmod/ABI).
inline constexpr const char* kWrapTerm = "wrap";

// The attr that a recording opens: disabled, pinned, and with the sample fields that let the
// driver deliver its memory map as raw samples. Throws Error when an index is too large for the
// driver or the driver does not know the type.
EventAttr htm_event_attr(const PmuDescription& pmu, const TraceTarget& target);

// The most that the first public driver may be given as AUX ring. It hands all of it to the
// hypervisor as one physical block, and the kernel's largest block is 16 MiB with pages of 4 KiB as
// of 64 KiB.
inline constexpr uint64_t kLargestBlockBytes = 16 << 20;

// The same event asked for with a frequency instead of a period. Only the drivers of the later
// generation refuse that (EINVAL), which tells them from the first ones without touching hardware.
EventAttr htm_generation_probe(const EventAttr& attr);

// A counting software event for the htm event's group: it runs exactly while the htm event does.
EventAttr htm_witness_attr();

// "htm/htm_type=2,nodeindex=0,.../": the event as perf would write it.
std::string describe_event(const TraceTarget& target);

}  // namespace htmtrace
