// SPDX-License-Identifier: GPL-2.0-or-later
// Encodes rows in Avro's binary encoding (Apache Avro specification 1.11, "Binary Encoding"), one
// after the other, into the block of a file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "core/core_trace/events.h"

namespace htmtrace {

class AvroRow {
 public:
  // Encodes int, long and enum: zigzag, seven bits a byte, the lowest bits first. Avro has no
  // unsigned numbers, so a 64-bit address is stored as the long with the same bits.
  void number(uint64_t value) {
    const auto number = static_cast<int64_t>(value);
    uint64_t rest = value << 1 ^ static_cast<uint64_t>(number >> 63);
    char* at = room(kMostNumberBytes);
    for (; rest >= 0x80; rest >>= 7) *at++ = static_cast<char>(rest | 0x80);
    *at++ = static_cast<char>(rest);
    used_ = static_cast<size_t>(at - bytes_.data());
  }
  // Selects the branch of a union with null: null(), or present() and the value.
  void null() { number(0); }
  void present() { number(1); }
  void optional(bool known, uint64_t value) {
    known ? present() : null();
    if (known) number(value);
  }
  void text(std::string_view text) {
    number(text.size());
    std::memcpy(room(text.size()), text.data(), text.size());
    used_ += text.size();
  }
  // Writes null if the text is empty.
  void optional_text(std::string_view text) {
    if (text.empty()) return null();
    present();
    this->text(text);
  }
  // Precedes this number of elements of an array. Call no_more() once after the last element.
  void elements(uint64_t count) {
    if (count != 0) number(count);
  }
  void no_more() { number(0); }
  void accesses(std::span<const DataAccess> accesses) {
    elements(accesses.size());
    for (const DataAccess& access : accesses) {
      number(access.ea.value);
      optional(access.has_ra, access.ra.value);
      optional(access.has_la, access.la.value);
    }
    no_more();
  }

  std::span<const char> bytes() const { return std::span(bytes_).first(used_); }
  void clear() { used_ = 0; }

 private:
  static constexpr size_t kMostNumberBytes = 10;
  static constexpr size_t kFirstBytes = 1 << 10;

  // Returns the end of the bytes, where at least `size` bytes fit.
  char* room(size_t size) {
    if (bytes_.size() - used_ < size) [[unlikely]]
      bytes_.resize(std::max({2 * bytes_.size(), used_ + size, kFirstBytes}));
    return bytes_.data() + used_;
  }

  std::vector<char> bytes_;
  size_t used_ = 0;
};

}  // namespace htmtrace
