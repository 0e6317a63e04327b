// SPDX-License-Identifier: GPL-2.0-or-later
// The rows of one trace as a folder of files, that engines read in parallel and of which they can
// leave out what is not asked for: the names of the folders say what is in them, as Hive's
// partitions do. htmtrace-decode(1), avro, parquet.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "output/row_schema.h"

namespace htmtrace {

struct RowPartsWishes {
  uint64_t rows = 10'000'000;     // of a file, at most
  std::optional<uint64_t> ticks;  // files are of windows of so many, each in a folder of its own
  bool replace = false;           // files that are there
};

// Where the file number `file`, of rows of this window of time, is to be. Makes the folder, with
// all above it. Throws Error.
std::filesystem::path make_room_for_part(std::filesystem::path folder, const RowPartsWishes& wishes,
                                         uint64_t window, uint64_t file,
                                         std::string_view extension);

// `File` is AvroFile or ParquetFile.
template <class File>
class RowParts {
 public:
  // Files come into `folder`. `schema` must outlive it.
  RowParts(std::filesystem::path folder, const RowSchema& schema, const RowPartsWishes& wishes)
      : folder_(std::move(folder)), schema_(schema), wishes_(wishes) {}

  // Of an event at this time: its fields are to be put in the order of the schema. Throws Error.
  auto& begin_row(uint64_t ticks) {
    const uint64_t window = wishes_.ticks ? ticks / *wishes_.ticks : 0;
    if (!file_ || left_ == 0 || window != window_) [[unlikely]]
      begin_file(window);
    return file_->begin_row();
  }
  // Throws Error.
  void end_row() {
    file_->end_row();
    left_--;
    rows_++;
  }
  // Throws Error.
  void finish() {
    if (file_) file_->finish();
    file_.reset();
  }

  uint64_t rows() const { return rows_; }
  uint64_t files() const { return files_; }

 private:
  // Numbers go on from folder to folder: time may go back, and no file is written twice.
  void begin_file(uint64_t window) {
    finish();
    file_.emplace(make_room_for_part(folder_, wishes_, window, files_, File::kExtension), schema_);
    files_++;
    left_ = wishes_.rows;
    window_ = window;
  }

  std::filesystem::path folder_;
  const RowSchema& schema_;
  RowPartsWishes wishes_;
  std::optional<File> file_;
  uint64_t left_ = 0;    // rows for which the file has room
  uint64_t window_ = 0;  // of time
  uint64_t files_ = 0;
  uint64_t rows_ = 0;
};

}  // namespace htmtrace
