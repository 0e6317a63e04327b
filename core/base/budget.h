// SPDX-License-Identifier: GPL-2.0-or-later
// What a reader may spend on one input. The limits grow with the stored size of the input, so that
// a small file cannot take all memory or all time, while an input of any size can be read.
#pragma once

#include <cstddef>
#include <cstdint>

namespace htmtrace {

// The memory of a reader's result. The base holds the results of all usual inputs. Together with
// the input itself and the rest of the program, a reader stays below 256 MiB and four bytes for
// each byte of the input; tests/bombs measures this.
class MemoryBudget {
 public:
  static constexpr uint64_t kBaseBytes = 96 << 20;
  static constexpr uint64_t kBytesPerByte = 3;

  explicit MemoryBudget(uint64_t stored_bytes = 0) { add_input(stored_bytes); }

  // Allows more memory: the result also holds an input of this size.
  void add_input(uint64_t stored_bytes);

  // Throws Error when less is left. The caller adds the name of the input with about().
  void take(uint64_t bytes) {
    if (bytes > left_bytes_) [[unlikely]]
      refuse();
    left_bytes_ -= bytes;
  }
  // take() has thrown an Error.
  bool exceeded() const { return exceeded_; }

 private:
  [[noreturn]] void refuse();

  uint64_t left_bytes_ = kBaseBytes;
  bool exceeded_ = false;
};

// The memory of a vector that grows to `count` elements: while the vector moves to a larger place,
// both places exist.
template <class Element>
constexpr uint64_t grown_bytes(uint64_t count = 1) {
  return 2 * sizeof(Element) * count;
}

// Bytes that a reader may look at more than once, for example to check a checksum again.
class WorkBudget {
 public:
  static constexpr uint64_t kBaseBytes = 64 << 20;
  static constexpr uint64_t kBytesPerByte = 16;

  // Allows more work: the input has these further bytes.
  void add_input(uint64_t bytes) { left_bytes_ += kBytesPerByte * bytes; }

  // Returns false when the budget is spent. The reader then must take a way that needs no work.
  bool spend(uint64_t bytes) {
    if (bytes > left_bytes_) return false;
    left_bytes_ -= bytes;
    return true;
  }

 private:
  uint64_t left_bytes_ = kBaseBytes;
};

}  // namespace htmtrace
