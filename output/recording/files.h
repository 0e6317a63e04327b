// SPDX-License-Identifier: GPL-2.0-or-later
// Creates the files of a recording.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/target.h"
#include "output/recording/trace_file.h"

namespace htmtrace {

// Throws Error if the files of `targets` clearly cannot be created in `folder`: a file exists and
// `existing` is kRefuse, the manifest is another program's, or the folder is not writable or cannot
// be created. Call this before touching the hardware. create_session_files() does the final check.
void check_session_folder(const std::filesystem::path& folder,
                          const std::vector<TraceTarget>& targets, Existing existing);

struct TargetFiles {
  std::string suffix;
  TraceFile trace;
  TraceFile translation;
};

struct SessionFiles {
  TraceFile manifest;
  std::vector<TargetFiles> targets;  // in the order of the requested targets

  // The recording has begun: all files get their names, and replace old files of the same names.
  // Throws Error.
  void begin();
  std::set<std::string> names() const;

  // Removes all files, because nothing was recorded. Bytes in a stream stay there.
  void discard();
};

// Creates the folder if it is missing, and all files or none of them. The files appear at begin().
// Reserves a little space, so that translations and manifest still fit on a disk that the traces
// fill. With a level, compresses the traces and names them htm.bin.SUFFIX.zst. Throws Error.
SessionFiles create_session_files(const std::filesystem::path& folder,
                                  const std::vector<TraceTarget>& targets, Existing existing,
                                  std::optional<int> compression = {});

// Creates the files as parts of a stream, which must outlive them. The parts carry the targets'
// numbers in their order.
SessionFiles create_session_parts(TraceStream& stream, uint32_t recording,
                                  const std::vector<TraceTarget>& targets);

}  // namespace htmtrace
