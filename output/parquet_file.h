// SPDX-License-Identifier: GPL-2.0-or-later
// Parquet files (Apache Parquet format 2), through Apache Arrow: columns, encodings, compression,
// statistics of each group of rows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "core/core_events.h"
#include "output/row_schema.h"

namespace htmtrace {

// A File of RowParts.
class ParquetFile {
 public:
  static constexpr std::string_view kExtension = "parquet";

  // Whether this build can (HTMTRACE_PARQUET).
  static bool can_write();

  // Creates `path`; refuses one that exists. Throws Error.
  ParquetFile(const std::filesystem::path& path, const RowSchema& schema);
  ~ParquetFile();
  ParquetFile(const ParquetFile&) = delete;
  ParquetFile& operator=(const ParquetFile&) = delete;

  // Then the fields of the schema, each by one call; then end_row() once.
  ParquetFile& begin_row() { return *this; }
  // Of kLong and kInt; of kName, which of the names. 64-bit addresses are the long with the same
  // bits, as in Avro: not all engines have unsigned numbers.
  void number(uint64_t value);
  void optional(bool known, uint64_t value);
  void text(std::string_view text);
  // Null if it is empty.
  void optional_text(std::string_view text);
  void accesses(std::span<const DataAccess> accesses);
  // Throws Error when a group of rows could not be written.
  void end_row();
  // Throws Error, also when the file system reports a late failure.
  void finish();

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace htmtrace
