// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/io/scratch_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "core/base/error.h"

namespace htmtrace {

std::vector<std::string> ScratchFile::folders() {
  const char* const chosen = std::getenv("TMPDIR");
  if (chosen != nullptr && *chosen != '\0') return {chosen};
  return {"/var/tmp", "/tmp"};
}

ScratchFile::ScratchFile() {
  int reason = 0;
  std::string last;
  for (const std::string& folder : folders()) {
    last = folder;
    std::string name = folder + "/htmtrace.XXXXXX";
    fd_ = Fd(::mkostemp(name.data(), O_CLOEXEC));
    if (fd_) {
      ::unlink(name.c_str());
      folder_ = folder;
      return;
    }
    reason = errno;
  }
  throw Error("cannot make a temporary file", reason)
      .on("folder: " + last)
      .hint("set TMPDIR to another folder");
}

void ScratchFile::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      throw Error("cannot write a temporary file", errno)
          .on("folder: " + folder_)
          .hint("set TMPDIR to a folder with more room");
    }
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

std::filesystem::path ScratchFile::path() const {
  return fmt::format("/proc/self/fd/{}", fd_.get());
}

}  // namespace htmtrace
