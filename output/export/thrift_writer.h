// SPDX-License-Identifier: GPL-2.0-or-later
// Writes structures in Thrift's compact protocol (Apache Thrift, "Thrift Compact protocol
// encoding"), which the metadata of Parquet files has.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace htmtrace {

class ThriftWriter {
 public:
  // Types of fields and of the elements of lists.
  enum class Type : uint8_t { kI32 = 5, kI64 = 6, kBinary = 8, kList = 9, kStruct = 12 };

  explicit ThriftWriter(std::vector<char>& out) : out_(out) {}

  // Fields in ascending order of their numbers.
  void i32(int field, int32_t value) {
    head(field, Type::kI32);
    zigzag(value);
  }
  void i64(int field, int64_t value) {
    head(field, Type::kI64);
    zigzag(value);
  }
  void text(int field, std::string_view value) {
    head(field, Type::kBinary);
    text(value);
  }
  template <class Body>
  void structure(int field, const Body& body) {
    head(field, Type::kStruct);
    structure(body);
  }
  // The elements follow.
  void list(int field, Type type, size_t size) {
    head(field, Type::kList);
    const auto kind = static_cast<unsigned>(type);
    if (size < 15) {
      put(static_cast<unsigned>(size) << 4 | kind);
    } else {
      put(0xf0 | kind);
      number(size);
    }
  }

  // Elements of a list; a structure is also the outermost value.
  void i32(int32_t value) { zigzag(value); }
  void text(std::string_view value) {
    number(value.size());
    out_.insert(out_.end(), value.begin(), value.end());
  }
  template <class Body>
  void structure(const Body& body) {
    const int outer = last_;
    last_ = 0;
    body();
    put(0);
    last_ = outer;
  }

 private:
  void head(int field, Type type) {
    const int step = field - last_;
    const auto kind = static_cast<unsigned>(type);
    last_ = field;
    if (step < 16) return put(static_cast<unsigned>(step) << 4 | kind);
    put(kind);
    zigzag(field);
  }
  void zigzag(int64_t value) {
    number(static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63));
  }
  void number(uint64_t value) {
    for (; value >= 0x80; value >>= 7) put(static_cast<unsigned>(value & 0x7f) | 0x80);
    put(static_cast<unsigned>(value));
  }
  void put(unsigned byte) { out_.push_back(static_cast<char>(byte)); }

  std::vector<char>& out_;
  int last_ = 0;  // number of the last field of the current structure
};

}  // namespace htmtrace
