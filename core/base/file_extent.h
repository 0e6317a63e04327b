// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>

namespace htmtrace {

// A range of bytes in a file.
struct FileExtent {
  uint64_t offset = 0;
  uint64_t size_bytes = 0;
  bool operator==(const FileExtent&) const = default;
};

}  // namespace htmtrace
