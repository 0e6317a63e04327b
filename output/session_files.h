// SPDX-License-Identifier: GPL-2.0-or-later
// The files of a recording and their names.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace_target.h"
#include "output/trace_file.h"

namespace htmtrace {

// "nN.pP.cC" for each target, the tail of its files' names; with ".tT" (1 nest, 2 core, 3 llat)
// where it would not tell two of the targets apart.
std::vector<std::string> file_suffixes(const std::vector<TraceTarget>& targets);

std::string trace_file_name(const std::string& suffix);        // htm.bin.SUFFIX, plain
std::string translation_file_name(const std::string& suffix);  // translation.SUFFIX

// Whether a recording has files that are named so.
bool is_recording_file(std::string_view name);

// "0001" ...: the folder of one of several recordings, below that of all.
std::string numbered_name(uint64_t number);

// Throws Error when it is plain that the files of `targets` could not be created in `folder`: one
// exists and `existing` is kRefuse, or the folder cannot be written to. To be called before the
// hardware is touched; create_session_files() decides.
void check_session_folder(const std::filesystem::path& folder,
                          const std::vector<TraceTarget>& targets, Existing existing);

// Removes what an earlier recording, or several, left in the folder. What else is there stays.
void remove_earlier(const std::filesystem::path& folder);

// Removes the folder of one of several recordings. False when that is not possible.
bool remove_recording(const std::filesystem::path& folder);

struct TargetFiles {
  std::string suffix;
  TraceFile trace;
  TraceFile translation;
};

struct SessionFiles {
  TraceFile manifest;
  std::vector<TargetFiles> targets;  // in the order in which they were asked for

  // Removes all of them: nothing was recorded. What is in a stream stays.
  void discard();
};

// Creates the folder when it is missing, and all files or none. Sets a little space aside, so that
// a disk that the traces fill still takes the translations and the manifest. With kReplace the
// files of an earlier recording go, whatever its targets were. With a level the traces are
// compressed, and their files named htm.bin.SUFFIX.zst. Throws Error.
SessionFiles create_session_files(const std::filesystem::path& folder,
                                  const std::vector<TraceTarget>& targets, Existing existing,
                                  std::optional<int> compression = {});

// The same as parts of a stream, which outlives them, with the numbers of the targets in their
// order.
SessionFiles create_session_parts(TraceStream& stream, uint32_t recording,
                                  const std::vector<TraceTarget>& targets);

}  // namespace htmtrace
