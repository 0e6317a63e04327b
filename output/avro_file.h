// SPDX-License-Identifier: GPL-2.0-or-later
// Avro object container files (Apache Avro specification 1.11, "Object Container Files"), through
// libavro: blocks, compression, sync markers, the schema inside. Rows are encoded here, because the
// library's own values take ten times as long.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace htmtrace {

// One row in Avro's binary encoding ("Binary Encoding"), its fields in the order of the schema.
class AvroRow {
 public:
  void clear() { bytes_.clear(); }
  std::string_view bytes() const { return bytes_; }

  // Of int, long and enum: zigzag, seven bits a byte, the lowest first. Avro has no unsigned
  // numbers: a 64-bit address is the long with the same bits.
  void number(uint64_t value) {
    const auto number = static_cast<int64_t>(value);
    uint64_t rest = value << 1 ^ static_cast<uint64_t>(number >> 63);
    for (; rest >= 0x80; rest >>= 7) bytes_ += static_cast<char>(rest | 0x80);
    bytes_ += static_cast<char>(rest);
  }
  // Of the union of null and something: null, or what follows.
  void null() { number(0); }
  void present() { number(1); }
  void optional(bool known, uint64_t value) {
    known ? present() : null();
    if (known) number(value);
  }
  void text(std::string_view text) {
    number(text.size());
    bytes_ += text;
  }
  // Before so many elements of an array; then no_more() once.
  void elements(uint64_t count) {
    if (count != 0) number(count);
  }
  void no_more() { number(0); }

 private:
  std::string bytes_;
};

class AvroFile {
 public:
  // Whether this build can (it needs libavro).
  static bool can_write();

  // Creates `path`; refuses one that exists. `schema` is JSON. Throws Error.
  AvroFile(const std::filesystem::path& path, const std::string& schema);
  ~AvroFile();
  AvroFile(AvroFile&& other) noexcept;
  AvroFile& operator=(AvroFile&&) = delete;
  AvroFile(const AvroFile&) = delete;
  AvroFile& operator=(const AvroFile&) = delete;

  // Throws Error when a block could not be written.
  void append(const AvroRow& row);
  // Throws Error, also when the file system reports a late failure.
  void finish();

 private:
  struct Library;
  std::unique_ptr<Library> library_;
  std::filesystem::path path_;
};

}  // namespace htmtrace
