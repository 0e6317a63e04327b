// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>

namespace htmtrace {

// open() returns the lowest free descriptor, which is the closed stream: lower
// ones are occupied.
void occupy_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) != -1 || errno != EBADF) continue;
    // The wrong direction makes each use fail. A workload gets these
    // descriptors, too.
    const int direction = stream == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    // Without /dev/null, in a bare chroot, any descriptor that cannot be
    // written does.
    if (::open("/dev/null", direction) < 0) ::open("/", O_RDONLY | O_DIRECTORY);
  }
}

}  // namespace htmtrace
