// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/base/budget.h"

#include <fmt/core.h>

#include <limits>

#include "core/base/error.h"

namespace htmtrace {

void MemoryBudget::add_input(uint64_t stored_bytes) {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  const bool fits = stored_bytes <= (kMost - left_bytes_) / kBytesPerByte;
  left_bytes_ = fits ? left_bytes_ + kBytesPerByte * stored_bytes : kMost;
}

void MemoryBudget::refuse() {
  exceeded_ = true;
  throw Error("its content takes more memory than its size justifies")
      .on(fmt::format("limit: {} MiB, and {} bytes for each byte of the file", kBaseBytes >> 20,
                      kBytesPerByte))
      .hint("copy the file again from the machine that recorded it");
}

}  // namespace htmtrace
