// SPDX-License-Identifier: GPL-2.0-or-later
// The number of trace bytes that all targets of a recording may still write.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>

namespace htmtrace {

class SizeLimit {
 public:
  // Without a value there is no limit.
  explicit SizeLimit(std::optional<uint64_t> bytes)
      : left_(bytes.value_or(std::numeric_limits<uint64_t>::max())) {}

  // Reserves up to `wanted` bytes, and returns their number. Fewer bytes mean that the limit is
  // reached.
  uint64_t take(uint64_t wanted) {
    uint64_t left = left_.load(std::memory_order_relaxed);
    while (!left_.compare_exchange_weak(left, left - std::min(left, wanted),
                                        std::memory_order_relaxed)) {
    }
    return std::min(left, wanted);
  }

  bool reached() const { return left_.load(std::memory_order_relaxed) == 0; }

 private:
  std::atomic<uint64_t> left_;
};

}  // namespace htmtrace
