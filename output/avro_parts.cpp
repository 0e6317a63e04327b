// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/avro_parts.h"

#include <fmt/core.h>

#include <system_error>

#include "core/error.h"

namespace htmtrace {

// Numbers go on from folder to folder: time may go back, and no file is written twice.
void AvroParts::begin_file(uint64_t window) {
  finish();
  std::filesystem::path folder = folder_;
  if (wishes_.ticks) folder /= fmt::format("ticks={}", window * *wishes_.ticks);
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) throw Error("cannot create the folder " + folder.string(), failure.value());
  const std::filesystem::path path = folder / fmt::format("part-{:05}.avro", files_);
  if (wishes_.replace) std::filesystem::remove(path, failure);
  file_.emplace(path, schema_);
  files_++;
  left_ = wishes_.rows;
  window_ = window;
}

void AvroParts::finish() {
  if (file_) file_->finish();
  file_.reset();
}

}  // namespace htmtrace
