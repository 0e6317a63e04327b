// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the numbers and texts of DWARF from bytes that may be damaged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "core/base/error.h"

namespace htmtrace {

class ByteReader {
 public:
  ByteReader(std::span<const std::byte> bytes, bool big_endian) : bytes_(bytes), big_(big_endian) {}

  bool at_end() const { return at_ == bytes_.size(); }
  size_t left() const { return bytes_.size() - at_; }

  // All functions throw Error at the end of the bytes.
  void skip(uint64_t count) {
    need(count);
    at_ += count;
  }
  // The next `count` bytes as a reader of their own.
  ByteReader part(uint64_t count) {
    const size_t begin = at_;
    skip(count);
    return {bytes_.subspan(begin, count), big_};
  }
  // A number of 1, 2, 4 or 8 bytes.
  uint64_t number(unsigned size_bytes) {
    need(size_bytes);
    uint64_t value = 0;
    for (unsigned i = 0; i < size_bytes; i++) {
      const auto byte = std::to_integer<uint64_t>(bytes_[at_ + (big_ ? i : size_bytes - 1 - i)]);
      value = value << 8 | byte;
    }
    at_ += size_bytes;
    return value;
  }
  uint8_t byte() {
    need(1);
    return std::to_integer<uint8_t>(bytes_[at_++]);
  }
  // DWARF 5, 7.6: little-endian groups of seven bits. Bits beyond 64 are ignored.
  uint64_t uleb() {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const uint8_t bits = byte();
      if (shift < 64) value |= uint64_t{bits & 0x7fU} << shift;
      if ((bits & 0x80) == 0) return value;
    }
  }
  int64_t sleb() {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const uint8_t bits = byte();
      if (shift < 64) value |= uint64_t{bits & 0x7fU} << shift;
      if ((bits & 0x80) != 0) continue;
      if ((bits & 0x40) != 0 && shift + 7 < 64) value |= ~uint64_t{0} << (shift + 7);
      return static_cast<int64_t>(value);
    }
  }
  // A text with its end, which is a byte 0. The result refers to the bytes.
  std::string_view text() {
    const auto* const begin = reinterpret_cast<const char*>(bytes_.data()) + at_;
    const void* const end = std::memchr(begin, 0, left());
    if (end == nullptr) throw Error("a text has no end");
    const auto size = static_cast<size_t>(static_cast<const char*>(end) - begin);
    at_ += size + 1;
    return {begin, size};
  }

 private:
  void need(uint64_t count) const {
    if (count > left()) throw Error("it ends in the middle of a value");
  }

  std::span<const std::byte> bytes_;
  size_t at_ = 0;
  bool big_;
};

}  // namespace htmtrace
