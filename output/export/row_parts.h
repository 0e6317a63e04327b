// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the rows of one trace as a folder of files. Engines read the files in parallel, and skip
// files by the names of their folders, as with Hive's partitions. htmtrace-decode(1), avro,
// parquet.
#pragma once

#include <cstdint>
#include <filesystem>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/fd.h"
#include "output/export/row_schema.h"
#include "output/io/new_file.h"

namespace htmtrace {

struct RowPartsWishes {
  uint64_t rows = 10'000'000;     // limit for one file
  std::optional<uint64_t> ticks;  // window size: each window has a folder with its own files
  Existing existing = Existing::kRefuse;
};

// Creates file number `file` with the rows of this time window, its folder and the folder's
// parents. Throws Error.
NewFile create_part(std::filesystem::path folder, const RowPartsWishes& wishes, uint64_t window,
                    uint64_t file, std::string_view extension);

// Tells other exports that this export writes to the folder, until the result is closed. Returns an
// empty Fd if the file system has no such locks.
Fd hold_folder(const std::filesystem::path& folder);

// Publishes all files. With kReplace, removes the parts of an earlier export from `folder`: engines
// would read them too. Also removes the hidden files of killed exports, if no other export holds
// the folder. `held` is hold_folder(folder). Throws Error.
void publish_parts(std::vector<NewFile>& parts, const std::filesystem::path& folder, const Fd& held,
                   Existing existing, std::string_view extension);

// For an error: "published already: 3 files, from A to B".
std::string describe_published(const std::vector<std::filesystem::path>& files);

// `File` is AvroFile or ParquetFile.
template <class File>
class RowParts {
 public:
  // Creates files in `folder`. `schema` must outlive this object.
  RowParts(std::filesystem::path folder, const RowSchema& schema, const RowPartsWishes& wishes,
           const typename File::Options& options)
      : folder_(std::move(folder)), schema_(schema), wishes_(wishes), options_(options) {}

  // Begins the row of an event at this time. The caller then adds the fields in the order of the
  // schema. Throws Error.
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
  // Completes the last file. Throws Error.
  void finish() {
    if (!file_) return;
    NewFile& file = finished_.emplace_back(file_->finish());
    file_.reset();
    const int reason = file.set_aside();
    if (reason != 0) throw Error("cannot write " + file.path().string(), reason);
  }
  // Call this after finish(): all files appear together. Throws Error.
  void publish() { publish_parts(finished_, folder_, held_, wishes_.existing, File::kExtension); }
  // Removes all files, also the published ones.
  void withdraw() {
    for (NewFile& file : finished_) file.discard();
  }
  std::vector<std::filesystem::path> published() const {
    std::vector<std::filesystem::path> paths;
    for (const NewFile& file : finished_) {
      if (file.is_published()) paths.push_back(file.path());
    }
    return paths;
  }

  uint64_t rows() const { return rows_; }
  uint64_t files() const { return files_; }

 private:
  // File numbers continue from folder to folder: time may go back, and no file is written twice.
  void begin_file(uint64_t window) {
    finish();
    file_.emplace(create_part(folder_, wishes_, window, files_, File::kExtension), schema_,
                  options_);
    if (!held_) held_ = hold_folder(folder_);
    files_++;
    left_ = wishes_.rows;
    window_ = window;
  }

  std::filesystem::path folder_;
  const RowSchema& schema_;
  RowPartsWishes wishes_;
  typename File::Options options_;
  std::optional<File> file_;
  std::vector<NewFile> finished_;
  Fd held_;
  uint64_t left_ = 0;    // rows that still fit into the file
  uint64_t window_ = 0;  // the current time window
  uint64_t files_ = 0;
  uint64_t rows_ = 0;
};

// Publishes the files of all parts, or none of them. With kReplace, the files that have replaced
// those of an earlier export stay, and the error names them. Throws Error.
template <class File>
void publish_all(std::list<RowParts<File>>& all, Existing existing) {
  try {
    for (RowParts<File>& parts : all) parts.publish();
  } catch (const Error& error) {
    std::vector<std::filesystem::path> published;
    for (RowParts<File>& parts : all) {
      if (existing == Existing::kRefuse) parts.withdraw();
      const auto more = parts.published();
      published.insert(published.end(), more.begin(), more.end());
    }
    if (published.empty()) throw;
    throw Error(error).on(describe_published(published));
  }
}

}  // namespace htmtrace
