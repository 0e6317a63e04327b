// SPDX-License-Identifier: GPL-2.0-or-later
// The rows of one trace as a folder of Avro files, that engines read in parallel and of which they
// can leave out what is not asked for: the names of the folders say what is in them, as Hive's
// partitions do. htmtrace-decode(1), AVRO.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>

#include "output/avro_file.h"

namespace htmtrace {

class AvroParts {
 public:
  struct Wishes {
    uint64_t rows = 10'000'000;     // of a file, at most
    std::optional<uint64_t> ticks;  // files are of windows of so many, each in a folder of its own
    bool replace = false;           // files that are there
  };

  // Files come into `folder`, which is made, with all above it. Throws Error.
  AvroParts(std::filesystem::path folder, std::string schema, const Wishes& wishes)
      : folder_(std::move(folder)), schema_(std::move(schema)), wishes_(wishes) {}

  // To be filled and given to append(); it is empty.
  AvroRow& row() {
    row_.clear();
    return row_;
  }
  // Of an event at this time. Throws Error.
  void append(uint64_t ticks) {
    const uint64_t window = wishes_.ticks ? ticks / *wishes_.ticks : 0;
    if (!file_ || left_ == 0 || window != window_) [[unlikely]]
      begin_file(window);
    left_--;
    rows_++;
    file_->append(row_);
  }
  // Throws Error.
  void finish();

  uint64_t rows() const { return rows_; }
  uint64_t files() const { return files_; }

 private:
  void begin_file(uint64_t window);

  std::filesystem::path folder_;
  std::string schema_;
  Wishes wishes_;
  AvroRow row_;
  std::optional<AvroFile> file_;
  uint64_t left_ = 0;    // rows for which the file has room
  uint64_t window_ = 0;  // of time
  uint64_t files_ = 0;
  uint64_t rows_ = 0;
};

}  // namespace htmtrace
