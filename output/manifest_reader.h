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

// A file that a manifest lists. Members without a valid value in the manifest are empty.
struct RecordedFile {
  std::string name;
  std::optional<uint64_t> bytes;         // the size of the content
  std::optional<uint64_t> stored_bytes;  // the size of the file
  std::optional<uint64_t> beginning;     // CRC-32C of the first kBeginningBytes of content
};

struct RecordedTarget {
  RecordedFile trace;
  RecordedFile translation;
};

struct RecordedLoss {
  std::string target;  // as in the names of files; empty: the whole recording
  std::string place;
  std::string cause;
};

struct ManifestFacts {
  std::optional<uint32_t> partition_id;
  std::vector<TraceTarget> targets;      // targets with a location and a known type
  std::vector<RecordedTarget> recorded;  // the files of each of these targets
  bool unfinished = false;               // the manifest says that the recording still runs
  std::vector<RecordedLoss> losses;
  std::string problem;  // the reason why the text is not a manifest; empty for a manifest
};

// Any bytes will do.
ManifestFacts read_manifest(std::span<const std::byte> text);

}  // namespace htmtrace
