// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/capture/private_folder.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/error.h"

namespace htmtrace {
namespace {

// $XDG_RUNTIME_DIR disappears when the user logs out, but detached recorders run on.
std::vector<std::string> folders() {
  const uid_t user = ::geteuid();
  std::vector<std::string> found;
  if (user == 0) found.emplace_back("/run/htmtrace");
  found.push_back(fmt::format("/tmp/htmtrace-{}", user));
  return found;
}

// Returns nothing, and sets errno, if the folder is not private, because another user may have
// created it.
Fd open_folder(const std::string& path) {
  Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat facts {};
  if (!folder || ::fstat(folder.get(), &facts) != 0) return {};
  if (facts.st_uid == ::geteuid() && (facts.st_mode & (S_IRWXG | S_IRWXO)) == 0) return folder;
  errno = EPERM;
  return {};
}

}  // namespace

std::vector<Fd> open_private_folders() {
  std::vector<Fd> found;
  for (const std::string& path : folders()) {
    if (Fd folder = open_folder(path)) found.push_back(std::move(folder));
  }
  return found;
}

Fd make_private_folder(const std::string& failure) {
  Error error(failure);
  for (const std::string& path : folders()) {
    if (::mkdir(path.c_str(), S_IRWXU) == 0 || errno == EEXIST) {
      if (Fd folder = open_folder(path)) return folder;
    }
    error = std::move(error).on(fmt::format("{}: {}", path, std::strerror(errno)));
  }
  throw error;
}

}  // namespace htmtrace
