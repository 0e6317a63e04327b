// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>

namespace htmtrace {

// open() returns the lowest free descriptor. This is the closed stream, because
// all lower descriptors are occupied.
void occupy_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) != -1 || errno != EBADF) continue;
    // The wrong direction makes each use fail. A workload gets these
    // descriptors, too.
    const int direction = stream == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    // A bare chroot has no /dev/null; there, any descriptor that cannot be
    // written works.
    if (::open("/dev/null", direction) < 0) ::open("/", O_RDONLY | O_DIRECTORY);
  }
}

}  // namespace htmtrace
