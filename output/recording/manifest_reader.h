// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the parts of manifest.json that decoding needs. `htmtrace record` writes this file.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/target.h"
#include "output/io/input_file.h"

namespace htmtrace {

// A file that a manifest lists. Members without a valid value in the manifest are empty.
struct RecordedFile {
  std::string name;
  std::string invalid;                   // the first value that is not valid; empty: all are
  std::optional<uint64_t> bytes;         // the size of the content
  std::optional<uint64_t> stored_bytes;  // the size of the file
  std::optional<uint64_t> beginning;     // CRC-32C of the first kBeginningBytes of content
};

struct RecordedTarget {
  RecordedFile trace;
  RecordedFile translation;
};

struct RecordedLoss {
  std::string target;  // as in file names; empty: the whole recording
  std::string place;
  std::string cause;
};

struct ManifestFacts {
  std::optional<uint32_t> partition_id;
  std::optional<uint32_t> pvr;           // the processor's version register
  std::string kernel_build_id;           // its bytes; empty: unknown
  std::vector<TraceTarget> targets;      // targets with a location and a known type
  std::vector<RecordedTarget> recorded;  // one entry for each target in `targets`
  bool unfinished = false;               // the state says that the recording is still running
  bool failed = false;                   // an error ended the recording
  std::string error;                     // this error, if the manifest states it
  std::vector<RecordedLoss> losses;
  std::string invalid;      // the first other value that is invalid; empty if all are valid
  bool unreadable = false;  // no member above is valid
  std::string problem;      // why the text is not a manifest; empty if the text is a manifest
};

// Accepts any bytes.
ManifestFacts read_manifest(std::span<const std::byte> text);
// Reads a whole file, or the extents of a stream. Throws Error, also when it is larger than any
// manifest.
ManifestFacts read_manifest(InputFile file);

}  // namespace htmtrace
