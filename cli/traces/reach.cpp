// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/traces/reach.h"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "cli/dispatches/import.h"
#include "core/base/error.h"
#include "output/recording/file_names.h"

namespace htmtrace {
namespace {

namespace fs = std::filesystem;

bool belongs_to_recording(const fs::path& file) {
  const std::string name = file.filename().string();
  return is_recording_file(name) || parse_file_name(name) || file.extension() == ".index";
}

void add(const fs::path& path, Reach& reach) {
  std::error_code failure;
  const bool is_folder = fs::is_directory(path, failure);
  const fs::path folder = is_folder ? path : path.has_parent_path() ? path.parent_path() : ".";
  (is_folder ? reach.folders : reach.files).push_back(path);
  reach.listed.push_back(folder);
  fs::directory_iterator entry(folder, failure);
  for (const fs::directory_iterator end; !failure && entry != end; entry.increment(failure)) {
    std::error_code gone;
    if (is_folder && !entry->is_symlink(gone)) continue;  // `folders` has it
    if (belongs_to_recording(entry->path()) && entry->is_regular_file(gone)) {
      reach.files.push_back(entry->path());
    }
  }
  // If the user cannot read the folder, the command reports this later, if it needs a file of the
  // folder.
  const int reason = failure.value();
  if (reason != 0 && reason != EACCES && reason != ENOENT && reason != ENOTDIR) {
    throw Error("cannot list folder " + folder.string(), reason);
  }
  for (const char* name : {kKallsymsName, kMapsName, kPagesName}) {
    if (is_numbered(folder)) reach.files.push_back(folder / ".." / name);
  }
  reach.scratch |= may_be_perf_data(path);  // it may hold a dispatch trace log
}

}  // namespace

Reach reach_of(const std::vector<std::string>& paths) {
  Reach reach;
  for (const std::string& path : paths) {
    if (path == "-") {
      reach.scratch = true;  // for a stream
    } else {
      add(path, reach);
    }
  }
  return reach;
}

}  // namespace htmtrace
