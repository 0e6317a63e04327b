// SPDX-License-Identifier: GPL-2.0-or-later
// What decoding needs of the manifest.json that `htmtrace record` leaves beside a trace.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/trace_target.h"

namespace htmtrace {

struct ManifestFacts {
  std::optional<uint32_t> partition_id;
  std::vector<TraceTarget> targets;  // those that name their place and a known type
  std::string problem;               // why the text is no manifest; empty: it is one
};

// Any bytes will do.
ManifestFacts read_manifest(std::span<const std::byte> text);

}  // namespace htmtrace
