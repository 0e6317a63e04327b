// SPDX-License-Identifier: GPL-2.0-or-later
// Whether a file is still the one that something was written about.
#pragma once

#include <cstddef>
#include <cstdint>

namespace htmtrace {

struct FileIdentity {
  static constexpr size_t kBeginningBytes = 64 << 10;
  uint64_t size_bytes = 0;
  uint64_t modified_ns = 0;  // since 1970
  uint64_t beginning = 0;    // CRC-32C of the first kBeginningBytes
  bool operator==(const FileIdentity&) const = default;
};

}  // namespace htmtrace
