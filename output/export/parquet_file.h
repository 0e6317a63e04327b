// SPDX-License-Identifier: GPL-2.0-or-later
// Writes Parquet files (Apache Parquet format 2) through Apache Arrow: columns, encodings,
// compression, and statistics of each group of rows.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "core/core_trace/events.h"
#include "output/export/row_schema.h"
#include "output/io/new_file.h"

namespace htmtrace {

// The Parquet implementation of RowParts' File.
class ParquetFile {
 public:
  static constexpr std::string_view kExtension = "parquet";

  struct Options {};

  // Returns whether this build can write Parquet files (HTMTRACE_PARQUET).
  static bool can_write();

  // Throws Error.
  ParquetFile(NewFile file, const RowSchema& schema, const Options& options);
  ~ParquetFile();
  ParquetFile(const ParquetFile&) = delete;
  ParquetFile& operator=(const ParquetFile&) = delete;

  // After this, call one function for each field of the schema, and then end_row() once.
  ParquetFile& begin_row() { return *this; }
  // For kLong, kInt, and the index of a kName. A 64-bit address is stored as the long with the same
  // bits, as in Avro, because some engines have no unsigned numbers.
  void number(uint64_t value);
  void optional(bool known, uint64_t value);
  void text(std::string_view text);
  // Writes null if the text is empty.
  void optional_text(std::string_view text);
  void accesses(std::span<const DataAccess> accesses);
  // Throws Error if a group of rows cannot be written.
  void end_row();
  // Returns the complete file, which is not published yet. Call this once, at the end. Throws
  // Error.
  NewFile finish();

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace htmtrace
