// SPDX-License-Identifier: GPL-2.0-or-later
// Writes one part of a recording: to a plain file, to a compressed file, or into a stream.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/crc32c.h"
#include "core/base/error.h"
#include "core/base/file_identity.h"
#include "output/io/compressor.h"
#include "output/io/trace_sink.h"
#include "output/recording/stream.h"

namespace htmtrace {

class TraceFile {
 public:
  explicit TraceFile(TraceSink sink) : sink_(std::make_unique<TraceSink>(std::move(sink))) {}
  // `path` is the name that a file for this part would have.
  TraceFile(StreamPart part, std::filesystem::path path) : part_(part), path_(std::move(path)) {}

  // Throws Error.
  static TraceFile create_compressed(const std::filesystem::path& path, Existing existing,
                                     int level) {
    TraceFile file(TraceSink::create(path, existing));
    file.compressor_ = std::make_unique<Compressor>(*file.sink_, level);
    return file;
  }

  // Like TraceSink::begin(). A part of a stream appears with its bytes.
  void begin() {
    if (sink_) sink_->begin();
  }

  // Never throws, like TraceSink::append().
  void append(std::span<const std::byte> bytes) {
    if (beginning_.size() < FileIdentity::kBeginningBytes) keep_beginning(bytes);
    if (part_) return part_->append(bytes);
    if (compressor_) return compressor_->append(bytes);
    sink_->append(bytes);
  }

  // Replaces the whole content. The content must not be compressed.
  void rewrite(std::span<const std::byte> bytes) {
    if (part_) return part_->rewrite(bytes);
    sink_->rewrite(bytes);
  }

  // Closes the file. The byte counts below are valid after this call.
  void finish() {
    if (compressor_) compressor_->finish();
    if (sink_) sink_->finish();
  }

  // Bytes in a stream stay there.
  void discard() {
    compressor_.reset();
    if (sink_) sink_->discard();
  }

  // While this object has the file open, is_being_written() returns true in other processes.
  void mark_as_being_written() const {
    if (sink_) sink_->mark_as_being_written();
  }

  // CRC-32C of the first FileIdentity::kBeginningBytes of the content, which distinguishes traces
  // of equal size.
  uint64_t beginning() const {
    return crc32c(
        std::span(beginning_).first(std::min<uint64_t>(beginning_.size(), written_bytes())));
  }

  // Ends the wait for a stalled reader of a stream.
  void give_up() const {
    if (part_) part_->stream.give_up();
  }

  const std::filesystem::path& path() const { return sink_ ? sink_->path() : path_; }
  std::string name() const { return path().filename().string(); }
  bool compressed() const { return compressor_ != nullptr; }
  // False if append() itself compresses, because the system cannot start another thread.
  bool compresses_apart() const { return compressor_ && compressor_->has_thread(); }
  // The size of the content, and the size of the file.
  uint64_t written_bytes() const {
    return compressor_ ? compressor_->written_bytes() : stored_bytes();
  }
  uint64_t stored_bytes() const { return part_ ? part_->written_bytes : sink_->written_bytes(); }
  uint64_t discarded_bytes() const {
    if (part_) return part_->discarded_bytes;
    return compressor_ ? compressor_->discarded_bytes() : sink_->discarded_bytes();
  }
  // An error of a stream affects only the parts that lack bytes.
  std::optional<int> error() const {
    if (part_) return part_->discarded_bytes != 0 ? part_->stream.error() : std::nullopt;
    return sink_->error();
  }
  // The reason of the error.
  std::string cause() const {
    if (!part_) return sink_->cause();
    const int reason = error().value_or(EIO);
    return reason == TraceStream::kReaderStalled ? "the reader of the stream was stalled"
                                                 : std::strerror(reason);
  }
  Moment error_moment() const {
    return part_ ? part_->stream.error_moment() : sink_->error_moment();
  }

 private:
  void keep_beginning(std::span<const std::byte> bytes) {
    const size_t room = FileIdentity::kBeginningBytes - beginning_.size();
    const auto kept = bytes.first(std::min(room, bytes.size()));
    beginning_.insert(beginning_.end(), kept.begin(), kept.end());
  }

  std::unique_ptr<TraceSink> sink_;  // on the heap, because the compressor refers to it
  std::unique_ptr<Compressor> compressor_;
  std::optional<StreamPart> part_;
  std::filesystem::path path_;  // only for a part of a stream
  std::vector<std::byte> beginning_;
};

// Call this after an error of the file.
inline Error cannot_write(const TraceFile& file) {
  return Error("cannot write " + file.path().string() + ": " + file.cause());
}

}  // namespace htmtrace
