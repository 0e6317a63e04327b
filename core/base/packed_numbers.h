// SPDX-License-Identifier: GPL-2.0-or-later
// Packs columns of numbers into few bytes that are fast to read: htmtrace-dtl(5), "Columns".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace htmtrace {

// Appends a column of up to 65535 numbers. Each number minus the smallest number uses a fixed
// number of bits. The rests of the few larger numbers follow.
void pack_numbers(std::span<const uint64_t> values, std::vector<std::byte>& to);

// The form that was shortest for a preceding part of a column. pack_repeated() tries all forms
// again after some uses of this form, and when a part takes noticeably more bytes in this form.
struct RepeatedHint {
  uint8_t form = 0;
  uint8_t uses = 0;             // number of uses before pack_repeated() tries all forms again
  uint32_t bytes_per_1024 = 0;  // the size of 1024 numbers in this form
};

// Appends a column in which many numbers are equal. Without a hint, chooses the shortest of the
// following forms:
// - a list of the distinct numbers, most frequent first, and an index for each number;
// - the form of pack_numbers();
// - the upper bits in one of these forms, followed by the lower bits;
// - only the numbers that differ from the preceding number.
// Uses and updates `hint`, which may be null. With a hint, the form need not be the shortest.
void pack_repeated(std::span<const uint64_t> values, std::vector<std::byte>& to,
                   RepeatedHint* hint = nullptr);

// Appends a 64-bit number.
void pack_word(uint64_t value, std::vector<std::byte>& to);

// Reads columns in the order in which they were packed. Accepts any bytes: after the first invalid
// column, ok() is false and every number is zero.
class NumberReader {
 public:
  explicit NumberReader(std::span<const std::byte> bytes) : left_(bytes) {}

  // Read values.size() numbers.
  void numbers(std::span<uint64_t> values);
  void repeated(std::span<uint64_t> values);
  uint64_t word() { return number(sizeof(uint64_t)); }

  bool ok() const { return ok_; }
  // The reader has consumed all bytes.
  bool at_end() const { return left_.empty(); }

 private:
  uint64_t number(size_t bytes);
  std::span<const std::byte> take(size_t bytes);
  void add_rests(std::span<uint64_t> values, size_t count, unsigned bits, unsigned shift,
                 size_t rest_bytes);
  void runs(std::span<uint64_t> values);
  void whole(std::span<uint64_t> values, size_t count);
  void fail(std::span<uint64_t> values);

  std::span<const std::byte> left_;
  std::vector<uint64_t> distinct_, lower_;
  bool ok_ = true;
};

}  // namespace htmtrace
