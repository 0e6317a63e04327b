// SPDX-License-Identifier: GPL-2.0-or-later
// Replaces ParquetFile in a build without Parquet.
#include "core/base/error.h"
#include "output/export/parquet_file.h"

namespace htmtrace {

struct ParquetFile::Library {};

bool ParquetFile::can_write() {
  return false;
}

ParquetFile::ParquetFile(NewFile file, const RowSchema&, const Options&) {
  throw Error("cannot write " + file.path().string() + ": htmtrace was built without Parquet");
}

ParquetFile::~ParquetFile() = default;
void ParquetFile::number(uint64_t) {}
void ParquetFile::optional(bool, uint64_t) {}
void ParquetFile::text(std::string_view) {}
void ParquetFile::optional_text(std::string_view) {}
void ParquetFile::accesses(std::span<const DataAccess>) {}
void ParquetFile::end_row() {}
NewFile ParquetFile::finish() {
  throw Error("htmtrace was built without Parquet");
}

}  // namespace htmtrace
