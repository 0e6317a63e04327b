// SPDX-License-Identifier: GPL-2.0-or-later
// Gives the bytes of an input a path, for readers that open files.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace htmtrace {

// The path is valid until the next call.
inline std::string path_of(const uint8_t* data, size_t size) {
  static const int file = ::memfd_create("input", 0);
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) {
    std::abort();
  }
  return "/proc/self/fd/" + std::to_string(file);
}

}  // namespace htmtrace
