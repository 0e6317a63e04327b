// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/export/row_parts.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <functional>
#include <string>
#include <system_error>
#include <thread>

namespace htmtrace {
namespace {

namespace fs = std::filesystem;

bool is_part(std::string_view name, std::string_view extension) {
  return name.starts_with("part-") && name.ends_with(fmt::format(".{}", extension));
}

// A part that an export of this user has not published.
bool is_hidden_part(const fs::path& path, std::string_view extension) {
  struct stat facts {};
  return is_part(name_of_hidden(path.filename().string()), extension) &&
         ::lstat(path.c_str(), &facts) == 0 && facts.st_uid == ::geteuid();
}

// Looks into the folder and into its folders of time windows, but follows no links.
std::vector<fs::path> files_in(const fs::path& folder,
                               const std::function<bool(const fs::path&)>& accept) {
  std::vector<fs::path> found;
  std::error_code failure;
  for (fs::recursive_directory_iterator entry(folder, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    const bool window = entry->path().filename().string().starts_with("ticks=");
    if (entry.depth() > 0 || !window) entry.disable_recursion_pending();
    const bool regular = entry->symlink_status(failure).type() == fs::file_type::regular;
    if (regular && accept(entry->path())) found.push_back(entry->path());
  }
  if (failure && failure != std::errc::no_such_file_or_directory) {
    throw Error("cannot read folder " + folder.string(), failure.value());
  }
  return found;
}

// A file that is still needed is that of an export that holds the folder.
void remove_hidden_parts(const fs::path& folder, const Fd& held, std::string_view extension) {
  if (!held || ::flock(held.get(), LOCK_EX | LOCK_NB) != 0) return;
  for (const fs::path& path :
       files_in(folder, [&](const fs::path& file) { return is_hidden_part(file, extension); })) {
    std::error_code failure;
    fs::remove(path, failure);
    if (failure) throw Error("cannot remove the old " + path.string(), failure.value());
  }
}

}  // namespace

NewFile create_part(fs::path folder, const RowPartsWishes& wishes, uint64_t window, uint64_t file,
                    std::string_view extension) {
  if (wishes.ticks) folder /= fmt::format("ticks={}", window * *wishes.ticks);
  create_folders(folder);
  return NewFile::create(folder / fmt::format("part-{:05}.{}", file, extension), wishes.existing);
}

// An export that removes files holds the folder alone for a moment. Another user who may read the
// folder could hold it forever, so the wait is short. Without the lock, a removed file is an error.
Fd hold_folder(const fs::path& folder) {
  constexpr int kTries = 100;
  constexpr auto kPause = std::chrono::milliseconds(10);
  Fd held(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int i = 0; held && i < kTries; i++) {
    if (::flock(held.get(), LOCK_SH | LOCK_NB) == 0) return held;
    if (errno != EWOULDBLOCK) break;
    std::this_thread::sleep_for(kPause);
  }
  return {};
}

std::string describe_published(const std::vector<fs::path>& files) {
  const std::string first = files.front().string();
  if (files.size() == 1) return "published already: " + first;
  return fmt::format("published already: {} files, from {} to {}", files.size(), first,
                     files.back().string());
}

void publish_parts(std::vector<NewFile>& parts, const fs::path& folder, const Fd& held,
                   Existing existing, std::string_view extension) {
  std::vector<fs::path> old;
  if (existing == Existing::kReplace) {
    old = files_in(folder, [extension](const fs::path& file) {
      return is_part(file.filename().string(), extension);
    });
  }
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
  if (existing == Existing::kReplace) remove_hidden_parts(folder, held, extension);
}

}  // namespace htmtrace
