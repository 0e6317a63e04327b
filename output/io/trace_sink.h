// SPDX-License-Identifier: GPL-2.0-or-later
// One file of a recording. A write error does not throw, because the rings must still be drained.
// The sink keeps the written bytes and counts the dropped bytes. The caller checks for errors at
// the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "output/io/moment.h"
#include "output/io/new_file.h"

namespace htmtrace {

class TraceSink {
 public:
  // Creates a file that appears at begin(), or when finish() succeeds (new_file.h). Throws Error.
  static TraceSink create(const std::filesystem::path& path, Existing existing);

  TraceSink(TraceSink&&) noexcept = default;
  TraceSink& operator=(TraceSink&&) = delete;
  TraceSink(const TraceSink&) = delete;
  TraceSink& operator=(const TraceSink&) = delete;

  // The recording has begun: the file appears, so that a killed recorder leaves what was written.
  // Throws Error.
  void begin();
  // Like begin(), but returns 0 or errno.
  int try_begin() { return file_.publish(); }

  // Reserves space so that `size_bytes` can still be written when the disk is full. Best effort: a
  // file system without this function causes no error. Throws Error if the disk is full now.
  void reserve(uint64_t size_bytes) const;

  // Appends the bytes. After the first error, only counts them.
  void append(std::span<const std::byte> bytes);

  // Appends all of the bytes, or none of them. Bytes that do not fit cause no error.
  void append_if_it_fits(std::span<const std::byte> bytes);

  // Keeps only the first `size_bytes` in the file, because the rest is useless by itself.
  void take_back(uint64_t size_bytes) { written_bytes_ = size_bytes; }

  // Drops all further bytes for this reason (errno).
  void fail(int reason);

  // Replaces the whole content in place. An error is sticky, as in append(). If no
  // byte can be written, the old content stays.
  void rewrite(std::span<const std::byte> bytes);

  // Until the file is closed or this process ends, is_being_written() returns true in other
  // processes.
  void mark_as_being_written() const;

  // Call it after the last append(). Records an error if the file has been removed. After the call,
  // the user may move or remove the file.
  void end();

  // Ends the file, waits until the bytes and the name are on the disk, closes the file and releases
  // reserved space. If the disk fails here, or if the file was removed, discarded_bytes() stays 0.
  // After an error, a file that has not appeared is removed. A second call has no effect.
  void finish();

  // Closes and removes the file, unless it is a stream. A second call, or a call after finish(),
  // has no effect.
  void discard();

  const std::filesystem::path& path() const { return file_.path(); }
  uint64_t written_bytes() const { return written_bytes_; }
  uint64_t discarded_bytes() const { return discarded_bytes_; }
  // errno and the moment of the first error.
  std::optional<int> error() const { return error_; }
  const Moment& error_moment() const { return error_moment_; }
  // The reason of the error, for people.
  std::string cause() const;

 private:
  explicit TraceSink(NewFile file);
  void set_aside(uint64_t end);
  void write_at(uint64_t position, std::span<const std::byte> bytes);

  NewFile file_;
  uint64_t written_bytes_ = 0;
  uint64_t ahead_bytes_;  // space up to this offset is reserved, or not requested yet
  uint64_t discarded_bytes_ = 0;
  bool ended_ = false;
  std::optional<int> error_;
  Moment error_moment_;
  // Allocated if the file system cannot write directly from the source. Some file systems (9p) pin
  // the source pages, and the pages of a perf ring cannot be pinned.
  std::unique_ptr<std::byte[]> copy_;
};

// Returns whether a live process has marked the file as being written. Returns false on a file
// system without locks.
bool is_being_written(const std::filesystem::path& path);

}  // namespace htmtrace
