// SPDX-License-Identifier: GPL-2.0-or-later
// The traced unit: one Hardware Trace Macro of the machine, with the hypervisor's numbering.
#pragma once

#include <cstdint>
#include <string>

namespace htmtrace {

// The trace kinds of the hypervisor call, with its numbers (H_HTM operation word, bits 47..32;
// the htm PMU's `htm_type` field uses the same numbers).
enum class HtmType : uint8_t { kNest = 1, kCore = 2, kLlat = 3 };

struct TraceTarget {
  uint32_t node = 0;  // node index in the machine
  uint32_t chip = 0;  // chip index within the node
  uint32_t core = 0;  // core index on the chip; 0 for nest, which has no core
  HtmType type = HtmType::kCore;

  bool operator==(const TraceTarget&) const = default;
};

// "nest", "core" or "llat".
const char* htm_type_name(HtmType type);

// "node=0,chip=1,core=12,type=core", as on the command line and in messages.
std::string describe(const TraceTarget& target);

}  // namespace htmtrace
