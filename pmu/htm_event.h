// SPDX-License-Identifier: GPL-2.0-or-later
// A trace target as an event of the htm PMU.
#pragma once

#include "core/base/target.h"
#include "pmu/description.h"
#include "pmu/event_attr.h"

namespace htmtrace {

inline constexpr const char* kHtmPmu = "htm";

// Only htmtrace's own driver has this format term (kmod/ABI).
inline constexpr const char* kWrapTerm = "wrap";

// The attr of a recording: disabled, pinned, and with the sample fields that let the driver deliver
// its memory map as raw samples. Throws Error if the driver does not know the type or an index is
// too large for it.
EventAttr htm_event_attr(const PmuDescription& pmu, const TraceTarget& target);

// The largest AUX ring for the first public driver, which passes the ring to the hypervisor as one
// physical block. The kernel's largest block is 16 MiB, with pages of 4 KiB and of 64 KiB.
inline constexpr uint64_t kLargestBlockBytes = 16 << 20;

// The same event with a frequency instead of a period. Only the later drivers refuse such an event
// (EINVAL). The probe therefore distinguishes the drivers without access to the hardware.
EventAttr htm_generation_probe(const EventAttr& attr);

// A counting software event for the htm event's group. The event runs whenever the htm event runs,
// and only then.
EventAttr htm_witness_attr();

// The event in perf's syntax: "htm/htm_core,nodeindex=0,.../".
std::string describe_event(const TraceTarget& target);

}  // namespace htmtrace
