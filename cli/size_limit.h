// SPDX-License-Identifier: GPL-2.0-or-later
// How many bytes of trace may still be written, by all targets of a recording together.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>

namespace htmtrace {

class SizeLimit {
 public:
  // Nothing: there is no limit.
  explicit SizeLimit(std::optional<uint64_t> bytes)
      : left_(bytes.value_or(std::numeric_limits<uint64_t>::max())) {}

  // Takes up to `wanted`; when it is less, the limit is reached.
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
