// SPDX-License-Identifier: GPL-2.0-or-later
// The files of a recording and their names.
#pragma once

#include <filesystem>
#include <string>

#include "core/trace_target.h"
#include "output/trace_sink.h"

namespace htmtrace {

std::string trace_file_name(const TraceTarget& target);        // htm.bin.nN.pP.cC
std::string translation_file_name(const TraceTarget& target);  // translation.nN.pP.cC

// Throws Error when it is plain that the files of `target` could not be created in `folder`: one
// exists and `existing` is kRefuse, or the folder cannot be written to. To be called before the
// hardware is touched; create_session_files() decides.
void check_session_folder(const std::filesystem::path& folder, const TraceTarget& target,
                          Existing existing);

struct SessionFiles {
  TraceSink trace;
  TraceSink translation;
  TraceSink manifest;

  // Removes all of them: nothing was recorded.
  void discard();
};

// Creates the folder when it is missing, and all files or none. Sets a little space aside, so that
// a disk that the trace fills still takes the translation and the manifest. Throws Error.
SessionFiles create_session_files(const std::filesystem::path& folder, const TraceTarget& target,
                                  Existing existing);

}  // namespace htmtrace
