// SPDX-License-Identifier: GPL-2.0-or-later
// The processors in the hypervisor's list DUMP_SYSPROC_CONF. No public document describes the
// entries. The console command `htm -info` prints the node, the nodal chip and the core of each
// processor first, so htmtrace looks for these numbers at the start of an entry.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/base/target.h"

namespace htmtrace {

// The bytes of an entry from which a target is inferred; the meaning of the rest is not known.
inline constexpr size_t kInferredBytes = 6;

// Returns the core of each entry: an inference, which a trace can confirm. Returns nothing if there
// are no entries, or if they cannot have this layout: an entry is too short, an index exceeds 255
// (the limit of the htm PMU), or two entries would be the same core.
std::optional<std::vector<TraceTarget>> infer_processors(
    std::span<const std::span<const std::byte>> entries);

}  // namespace htmtrace
