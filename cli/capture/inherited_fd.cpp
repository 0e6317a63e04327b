// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/capture/inherited_fd.h"

#include <fcntl.h>
#include <fmt/core.h>

#include <cerrno>

#include "core/base/error.h"

namespace htmtrace {

Fd take_inherited_fd(int number, const char* option) {
  const int flags = ::fcntl(number, F_GETFD);
  if (flags < 0) {
    throw Error(fmt::format("cannot use file descriptor {} for {}", number, option), errno);
  }
  // An inherited descriptor never has this flag. All descriptors of htmtrace have it.
  if ((flags & FD_CLOEXEC) != 0) {
    throw Error(fmt::format("cannot use file descriptor {} for {}: htmtrace already uses it",
                            number, option))
        .hint("choose another number, and open it in the shell: N>FILE");
  }
  if (::fcntl(number, F_SETFD, FD_CLOEXEC) != 0) {
    throw Error(fmt::format("cannot use file descriptor {} for {}", number, option), errno);
  }
  return Fd(number);
}

}  // namespace htmtrace
