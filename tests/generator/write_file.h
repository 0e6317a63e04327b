// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace htmtrace::generator {

// For programs that are useless without their output. FILE may be null, as returned by fopen().
inline void write_or_exit(std::FILE* file, const std::vector<std::byte>& bytes, const char* name) {
  const bool all =
      file != nullptr && (bytes.empty() || std::fwrite(bytes.data(), bytes.size(), 1, file) == 1);
  if (all) return;
  std::perror(name);
  std::exit(1);
}

}  // namespace htmtrace::generator
