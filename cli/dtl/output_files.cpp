// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/dtl/output_files.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "core/base/error.h"
#include "output/recording/file_names.h"

namespace htmtrace {
namespace {

namespace fs = std::filesystem;

fs::path folder_of_file(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : ".";
}

// Returns true for a device, a FIFO, a socket or a folder. Follows links.
bool is_special(const fs::path& file) {
  struct stat facts {};
  return ::stat(file.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode);
}

// Returns true if both files are in the same folder, however their paths are spelled.
bool are_in_same_folder(const fs::path& one, const fs::path& other) {
  std::error_code failure;
  return fs::equivalent(folder_of_file(one), folder_of_file(other), failure);
}

}  // namespace

void check_can_write(const fs::path& file, const char* option) {
  if (is_special(file) ? ::access(file.c_str(), W_OK) == 0
                       : ::access(folder_of_file(file).c_str(), W_OK | X_OK) == 0) {
    return;
  }
  throw Error("cannot create " + file.string(), errno)
      .hint(fmt::format("choose another file with {}", option));
}

void check_is_no_recording(const fs::path& metrics, const fs::path& output, bool rotates) {
  if (output.empty()) return;
  std::error_code failure;
  bool same = fs::equivalent(metrics, output, failure);
  if (are_in_same_folder(metrics, output)) {
    const std::string name = metrics.filename().string(), recording = output.filename().string();
    same |= name == recording;
    same |= rotates && name.starts_with(recording + '.') &&
            is_numbered_name(name.substr(recording.size() + 1));
  }
  if (!same) return;
  throw Error(fmt::format("cannot write metrics to {}: -o and --metrics name the same file",
                          metrics.string()))
      .hint("choose another file with --metrics");
}

void check_can_rotate(const fs::path& output) {
  if (output.has_filename() && !is_special(output)) return;
  throw Error(fmt::format("cannot use --rotate with {}: it is not a regular file", output.string()))
      .hint("name a file: -o FILE; --rotate adds a number to this name");
}

}  // namespace htmtrace
