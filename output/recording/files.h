// SPDX-License-Identifier: GPL-2.0-or-later
// Creates and removes the files of a recording.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/target.h"
#include "output/recording/trace_file.h"

namespace htmtrace {

// Returns whether htmtrace record writes files of this name.
bool is_recording_file(std::string_view name);

// "0001" and so on: the subfolder of one of several recordings.
std::string numbered_name(uint64_t number);

// Throws Error if the files of `targets` clearly cannot be created in `folder`: a file exists and
// `existing` is kRefuse, or the folder is not writable. Call this before touching the hardware.
// create_session_files() does the final check.
void check_session_folder(const std::filesystem::path& folder,
                          const std::vector<TraceTarget>& targets, Existing existing);

// Removes the files of one or more earlier recordings from the folder. Keeps all other files.
void remove_earlier(const std::filesystem::path& folder);

// Removes the folder of one of several recordings. Returns false if the removal fails.
bool remove_recording(const std::filesystem::path& folder);

struct TargetFiles {
  std::string suffix;
  TraceFile trace;
  TraceFile translation;
};

struct SessionFiles {
  TraceFile manifest;
  std::vector<TargetFiles> targets;  // in the order of the requested targets

  // Removes all files, because nothing was recorded. Bytes in a stream stay there.
  void discard();
};

// Creates the folder if it is missing, and all files or none of them. Reserves a little space, so
// that translations and manifest still fit on a disk that the traces fill. With kReplace, removes
// the files of an earlier recording, including other targets. With a level, compresses the traces
// and names them htm.bin.SUFFIX.zst. Throws Error.
SessionFiles create_session_files(const std::filesystem::path& folder,
                                  const std::vector<TraceTarget>& targets, Existing existing,
                                  std::optional<int> compression = {});

// Creates the files as parts of a stream, which must outlive them. The parts carry the targets'
// numbers in their order.
SessionFiles create_session_parts(TraceStream& stream, uint32_t recording,
                                  const std::vector<TraceTarget>& targets);

}  // namespace htmtrace
