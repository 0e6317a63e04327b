// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/recording/input_guard.h"

#include <fmt/core.h>

#include <filesystem>
#include <system_error>

#include "core/base/error.h"
#include "output/recording/file_names.h"

namespace htmtrace {
namespace {

namespace fs = std::filesystem;

// Compares device and inode, and so follows links. Returns false if a file does not exist.
bool is_same_file(const fs::path& one, const fs::path& other) {
  std::error_code failure;
  return fs::is_regular_file(one, failure) && fs::equivalent(one, other, failure);
}

// A folder with several recordings has a subfolder for each.
bool is_part_of_recording(const fs::path& file, const fs::path& folder) {
  std::error_code failure;
  // The command cannot read a subfolder that this loop cannot read.
  constexpr auto kHow = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator entry(folder, kHow, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    if (entry.depth() > 0) entry.disable_recursion_pending();
    const fs::path& path = entry->path();
    if (is_recording_file(path.filename().string()) && is_same_file(file, path)) return true;
  }
  if (failure && failure != std::errc::no_such_file_or_directory) {
    throw Error("cannot read folder " + folder.string(), failure.value());
  }
  return false;
}

}  // namespace

void check_is_no_input(const std::string& output, const std::vector<std::string>& inputs) {
  if (output.empty()) return;
  for (const std::string& input : inputs) {
    if (input.empty()) continue;
    const fs::path path = input == "-" ? "/dev/stdin" : input;
    std::error_code failure;
    const bool folder = fs::is_directory(path, failure);
    const fs::path around = folder ? path : path.has_parent_path() ? path.parent_path() : ".";
    if (!is_same_file(output, path) && !is_part_of_recording(output, around)) continue;
    throw Error(fmt::format("cannot write {}: output and input are the same file", output))
        .hint("choose another file");
  }
}

}  // namespace htmtrace
