// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/base/budget.h"

#include <fmt/core.h>

#include <limits>

#include "core/base/error.h"

namespace htmtrace {

MemoryBudget::MemoryBudget(uint64_t stored_bytes) : left_bytes_(kBaseBytes) {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  const bool fits = stored_bytes <= (kMost - kBaseBytes) / kBytesPerByte;
  left_bytes_ = fits ? kBaseBytes + kBytesPerByte * stored_bytes : kMost;
}

void MemoryBudget::refuse() {
  throw Error("its content takes more memory than its size justifies")
      .on(fmt::format("limit: {} MiB, and {} bytes for each byte of the file", kBaseBytes >> 20,
                      kBytesPerByte))
      .hint("copy the file again from the machine that recorded it");
}

}  // namespace htmtrace
