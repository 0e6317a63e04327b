// SPDX-License-Identifier: GPL-2.0-or-later
// Identifies the file that an index or a manifest describes, so that a reader detects a changed
// file.
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
