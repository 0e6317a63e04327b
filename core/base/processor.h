// SPDX-License-Identifier: GPL-2.0-or-later
// The processors, by the upper half of their version register (PVR), and what is known of their
// trace formats.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace htmtrace {

struct Processor {
  uint16_t version;         // upper half of the PVR (Linux: arch/powerpc/include/asm/reg.h)
  const char* name;         // "POWER10"
  const char* core_traces;  // what is known of the core records, for people
  const char* nest_traces;  // the same of the nest records
  bool assumed;             // no public document describes one of the formats that htmtrace reads
};

// Returns null if htmtrace does not know the processor.
const Processor* find_processor(uint32_t pvr);

// Returns "POWER10: core records known; nest records not public, printed unchanged".
std::string describe_processor(uint32_t pvr);

// Returns "POWER10: core records known; nest records not public, printed unchanged" for each
// processor that htmtrace knows, without repetition.
std::vector<std::string> describe_processors();

// Returns the PVR in the line "revision" of /proc/cpuinfo: "2.0 (pvr 0080 0200)".
std::optional<uint32_t> pvr_in(std::string_view revision);

}  // namespace htmtrace
