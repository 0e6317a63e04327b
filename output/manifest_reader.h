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
  std::vector<TraceTarget> targets;      // those that name their place and a known type
  std::vector<RecordedTarget> recorded;  // of each of them
  bool unfinished = false;               // the state is that of a recording that still runs
  bool failed = false;                   // an error ended the recording:
  std::string error;                     // this one, if the manifest states it
  std::vector<RecordedLoss> losses;
  bool unreadable = false;  // nothing above is known
  std::string problem;      // why the text is no manifest; empty: it is one
};

// Any bytes will do.
ManifestFacts read_manifest(std::span<const std::byte> text);

}  // namespace htmtrace
