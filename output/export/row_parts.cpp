// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/export/row_parts.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <system_error>

namespace htmtrace {
namespace {

namespace fs = std::filesystem;

bool is_part(const fs::path& path, std::string_view extension) {
  const std::string name = path.filename().string();
  return name.starts_with("part-") && name.ends_with(fmt::format(".{}", extension));
}

// Looks into the folder and into its folders of time windows, but follows no links.
std::vector<fs::path> parts_in(const fs::path& folder, std::string_view extension) {
  std::vector<fs::path> found;
  std::error_code failure;
  for (fs::recursive_directory_iterator entry(folder, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    const bool window = entry->path().filename().string().starts_with("ticks=");
    if (entry.depth() > 0 || !window) entry.disable_recursion_pending();
    const bool regular = entry->symlink_status(failure).type() == fs::file_type::regular;
    if (regular && is_part(entry->path(), extension)) found.push_back(entry->path());
  }
  if (failure && failure != std::errc::no_such_file_or_directory) {
    throw Error("cannot read folder " + folder.string(), failure.value());
  }
  return found;
}

}  // namespace

NewFile create_part(fs::path folder, const RowPartsWishes& wishes, uint64_t window, uint64_t file,
                    std::string_view extension) {
  if (wishes.ticks) folder /= fmt::format("ticks={}", window * *wishes.ticks);
  create_folders(folder);
  return NewFile::create(folder / fmt::format("part-{:05}.{}", file, extension), wishes.existing);
}

void publish_parts(std::vector<NewFile>& parts, const fs::path& folder, Existing existing,
                   std::string_view extension) {
  std::vector<fs::path> old;
  if (existing == Existing::kReplace) old = parts_in(folder, extension);
  for (NewFile& part : parts) {
    const int reason = part.publish();
    if (reason != 0) throw Error("cannot create " + part.path().string(), reason);
    std::erase(old, part.path());
  }
  for (const fs::path& path : old) {
    std::error_code failure;
    fs::remove(path, failure);
    if (failure) throw Error("cannot remove the old " + path.string(), failure.value());
    fs::remove(path.parent_path(), failure);  // if it is empty
  }
}

}  // namespace htmtrace
