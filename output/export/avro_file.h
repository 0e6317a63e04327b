// SPDX-License-Identifier: GPL-2.0-or-later
// Writes Avro object container files (Apache Avro specification 1.11, "Object Container Files")
// through libavro: blocks, compression, sync markers, and the schema in the file. Rows are encoded
// here, because the library's own values take ten times as long.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/core_trace/events.h"
#include "output/export/row_schema.h"
#include "output/io/new_file.h"

namespace htmtrace {

// One row in Avro's binary encoding ("Binary Encoding"), its fields in the order of the schema.
class AvroRow {
 public:
  void clear() { bytes_.clear(); }
  std::string_view bytes() const { return bytes_; }

  // Encodes int, long and enum: zigzag, seven bits a byte, the lowest bits first. Avro has no
  // unsigned numbers, so a 64-bit address is stored as the long with the same bits.
  void number(uint64_t value) {
    const auto number = static_cast<int64_t>(value);
    uint64_t rest = value << 1 ^ static_cast<uint64_t>(number >> 63);
    for (; rest >= 0x80; rest >>= 7) bytes_ += static_cast<char>(rest | 0x80);
    bytes_ += static_cast<char>(rest);
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
    bytes_ += text;
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

 private:
  std::string bytes_;
};

// Returns the schema as JSON.
std::string avro_schema(const RowSchema& schema);

// The Avro implementation of RowParts' File.
class AvroFile {
 public:
  static constexpr std::string_view kExtension = "avro";
  // Returns whether this build can write Avro files (this needs libavro).
  static bool can_write();

  // Throws Error.
  AvroFile(NewFile file, const RowSchema& schema);
  ~AvroFile();
  AvroFile(const AvroFile&) = delete;
  AvroFile& operator=(const AvroFile&) = delete;

  // The caller fills the row with the fields of the schema, and then calls end_row() once.
  AvroRow& begin_row() {
    row_.clear();
    return row_;
  }
  // Throws Error if a block cannot be written.
  void end_row();
  // Returns the complete file, which is not published yet. Call this once, at the end. Throws
  // Error.
  NewFile finish();

 private:
  struct Library;
  std::unique_ptr<Library> library_;
  AvroRow row_;
};

}  // namespace htmtrace
