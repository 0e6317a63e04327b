// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/recording/earlier.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/fd.h"
#include "output/recording/file_names.h"
#include "output/recording/manifest.h"

namespace htmtrace {
namespace {

// The descriptor makes sure that all operations are on the same folder, whatever its path leads to
// meanwhile.
class Folder {
 public:
  // A link to the folder that the user named is the user's choice.
  explicit Folder(const std::filesystem::path& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}
  Folder(const Folder& parent, const std::string& name)
      : fd_(::openat(parent.fd_.get(), name.c_str(),
                     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) {}

  explicit operator bool() const { return static_cast<bool>(fd_); }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    const int copy = ::openat(fd_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(copy < 0 ? nullptr : ::fdopendir(copy),
                                                      ::closedir);
    if (!entries) return names;
    while (const dirent* entry = ::readdir(entries.get())) names.emplace_back(entry->d_name);
    return names;
  }

  // `reason` is errno if the file cannot be examined; a missing file is no failure.
  bool has_file(const std::string& name, int& reason) const {
    struct stat file {};
    const bool found = ::fstatat(fd_.get(), name.c_str(), &file, AT_SYMLINK_NOFOLLOW) == 0;
    reason = found || errno == ENOENT ? 0 : errno;
    return found && S_ISREG(file.st_mode);
  }
  bool has_file(const std::string& name) const {
    int reason = 0;
    return has_file(name, reason);
  }

  // The format is the first member of a manifest. `reason` is errno if the file cannot be read.
  bool has_own_manifest(int& reason) const {
    if (!has_file(kManifestName, reason)) return false;
    const Fd file(
        ::openat(fd_.get(), kManifestName, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    std::array<char, 128> begin{};
    const ssize_t got = file ? ::read(file.get(), begin.data(), begin.size()) : -1;
    if (got < 0) {
      reason = errno;
      return false;
    }
    const std::string_view text(begin.data(), static_cast<size_t>(got));
    return text.find(kManifestFormat) != std::string_view::npos;
  }
  bool has_own_manifest() const {
    int reason = 0;
    return has_own_manifest(reason);
  }

  bool remove_file(const std::string& name) const {
    return ::unlinkat(fd_.get(), name.c_str(), 0) == 0;
  }
  bool remove_folder(const std::string& name) const {
    return ::unlinkat(fd_.get(), name.c_str(), AT_REMOVEDIR) == 0;
  }

 private:
  Fd fd_;
};

void remove_files(const Folder& folder, const std::set<std::string>& kept) {
  for (const std::string& name : folder.names()) {
    if (!is_recording_file(name) || kept.contains(name) || !folder.has_file(name)) continue;
    if (name == kManifestName && !folder.has_own_manifest()) continue;
    folder.remove_file(name);
  }
}

bool is_recording(const Folder& folder) {
  const std::vector<std::string> names = folder.names();
  return folder.has_own_manifest() || std::ranges::any_of(names, [](const std::string& name) {
           return parse_file_name(name).has_value();
         });
}

}  // namespace

std::vector<std::string> numbered_recordings(const std::filesystem::path& path) {
  std::vector<std::string> found;
  const Folder folder(path);
  if (!folder) return found;
  for (std::string& name : folder.names()) {
    if (!is_numbered_name(name)) continue;
    const Folder numbered(folder, name);
    if (numbered && is_recording(numbered)) found.push_back(std::move(name));
  }
  std::ranges::sort(found, [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  return found;
}

bool has_foreign_manifest(const std::filesystem::path& path) {
  struct stat manifest {};
  int reason = ::lstat((path / kManifestName).c_str(), &manifest) == 0 ? 0 : errno;
  if (reason == ENOENT) return false;
  bool own = false;
  if (reason == 0) {
    const Folder folder(path);
    reason = folder ? 0 : errno;
    if (folder) own = folder.has_own_manifest(reason);
  }
  if (reason != 0)
    throw Error(fmt::format("cannot read {}", (path / kManifestName).string()), reason);
  return !own;
}

void remove_earlier(const std::filesystem::path& path, const std::set<std::string>& kept,
                    std::optional<uint64_t> current) {
  const Folder folder(path);
  if (!folder) return;
  remove_files(folder, kept);
  for (const std::string& name : folder.names()) {
    if (!is_numbered_name(name) || (current && name == numbered_name(*current))) continue;
    const Folder numbered(folder, name);
    if (!numbered || !is_recording(numbered)) continue;
    remove_files(numbered, {});
    folder.remove_folder(name);  // fails if it has other files
  }
}

bool remove_recording(const std::filesystem::path& path, uint64_t number) {
  const Folder folder(path);
  const Folder numbered(folder, numbered_name(number));
  if (!numbered) return false;
  remove_files(numbered, {});
  return folder.remove_folder(numbered_name(number));
}

}  // namespace htmtrace
