// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "core/base/error.h"

namespace htmtrace {

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw Error("cannot create a pipe", errno);
  return {Fd(ends[0]), Fd(ends[1])};
}

}  // namespace htmtrace
