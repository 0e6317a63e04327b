// SPDX-License-Identifier: GPL-2.0-or-later
// Avro object container files (Apache Avro specification 1.11, "Object Container Files"), through
// libavro: blocks, compression, sync markers, the schema inside. Rows are encoded here, because the
// library's own values take ten times as long.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/core_events.h"
#include "output/row_schema.h"

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
  // Null if it is empty.
  void optional_text(std::string_view text) {
    if (text.empty()) return null();
    present();
    this->text(text);
  }
  // Before so many elements of an array; then no_more() once.
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

 private:
  std::string bytes_;
};

// JSON.
std::string avro_schema(const RowSchema& schema);

// A File of RowParts.
class AvroFile {
 public:
  static constexpr std::string_view kExtension = "avro";
  // Whether this build can (it needs libavro).
  static bool can_write();

  // Creates `path`; refuses one that exists. Throws Error.
  AvroFile(const std::filesystem::path& path, const RowSchema& schema);
  ~AvroFile();
  AvroFile(const AvroFile&) = delete;
  AvroFile& operator=(const AvroFile&) = delete;

  // To be filled with the fields of the schema; then end_row() once.
  AvroRow& begin_row() {
    row_.clear();
    return row_;
  }
  // Throws Error when a block could not be written.
  void end_row();
  // Throws Error, also when the file system reports a late failure.
  void finish();

 private:
  struct Library;
  std::unique_ptr<Library> library_;
  std::filesystem::path path_;
  AvroRow row_;
};

}  // namespace htmtrace
