// SPDX-License-Identifier: GPL-2.0-or-later
// The file of a trace: its bytes, or compressed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "output/compressor.h"
#include "output/trace_sink.h"

namespace htmtrace {

class TraceFile {
 public:
  // Compresses at `level`, if there is one. Throws Error; then there is no file.
  static TraceFile create(const std::filesystem::path& path, Existing existing,
                          std::optional<int> level) {
    TraceFile file(TraceSink::create(path, existing));
    if (!level) return file;
    try {
      file.compressor_ = std::make_unique<Compressor>(*file.sink_, *level);
    } catch (...) {
      file.discard();
      throw;
    }
    return file;
  }

  // As of TraceSink: no error throws.
  void append(std::span<const std::byte> bytes) {
    if (compressor_)
      compressor_->append(bytes);
    else
      sink_->append(bytes);
  }

  // Closes the file; what is told of bytes below is valid from then on.
  void finish() {
    if (compressor_) compressor_->finish();
    sink_->finish();
  }

  void discard() {
    compressor_.reset();
    sink_->discard();
  }

  const std::filesystem::path& path() const { return sink_->path(); }
  std::string name() const { return sink_->name(); }
  bool compressed() const { return compressor_ != nullptr; }
  // Of the trace, and the size of the file.
  uint64_t written_bytes() const {
    return compressor_ ? compressor_->written_bytes() : sink_->written_bytes();
  }
  uint64_t stored_bytes() const { return sink_->written_bytes(); }
  uint64_t discarded_bytes() const {
    return compressor_ ? compressor_->discarded_bytes() : sink_->discarded_bytes();
  }
  std::optional<int> error() const { return sink_->error(); }
  const Moment& error_moment() const { return sink_->error_moment(); }

 private:
  explicit TraceFile(TraceSink sink) : sink_(std::make_unique<TraceSink>(std::move(sink))) {}

  std::unique_ptr<TraceSink> sink_;  // stays where it is, for the compressor
  std::unique_ptr<Compressor> compressor_;
};

}  // namespace htmtrace
