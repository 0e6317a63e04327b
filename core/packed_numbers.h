// SPDX-License-Identifier: GPL-2.0-or-later
// Columns of numbers in few bytes, quick to read: htmtrace-dtl(5), "Columns".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace htmtrace {

// Appends a column of up to 65535 numbers: each less the smallest in a fixed number of bits; the
// few that need more have the rest behind.
void pack_numbers(std::span<const uint64_t> values, std::vector<std::byte>& to);

// Appends a column of numbers of which many are equal: a list of those that there are, most
// frequent first, and which one each is; or as pack_numbers(); or the upper bits in one of these
// ways and the lower ones apart; or only those that are not equal to the one before: whatever is
// shortest.
void pack_repeated(std::span<const uint64_t> values, std::vector<std::byte>& to);

// Appends one number of 64 bits.
void pack_word(uint64_t value, std::vector<std::byte>& to);

// Reads columns in the order in which they were packed. Any bytes will do: once something made no
// sense, ok() is false and all that is read is zero.
class NumberReader {
 public:
  explicit NumberReader(std::span<const std::byte> bytes) : left_(bytes) {}

  // As many numbers as there is room for.
  void numbers(std::span<uint64_t> values);
  void repeated(std::span<uint64_t> values);
  uint64_t word() { return number(sizeof(uint64_t)); }

  bool ok() const { return ok_; }
  // Nothing follows what was read.
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
