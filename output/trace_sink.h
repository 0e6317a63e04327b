// SPDX-License-Identifier: GPL-2.0-or-later
// One file of a recording. A write error does not throw: the rings must go on being drained. The
// sink then keeps what it has, counts what it had to throw away, and the caller asks at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "output/moment.h"

namespace htmtrace {

enum class Existing : uint8_t { kRefuse, kReplace };

class TraceSink {
 public:
  // Creates the file. Throws Error, also when it exists and `existing` is kRefuse.
  static TraceSink create(const std::filesystem::path& path, Existing existing);

  TraceSink(TraceSink&& other) noexcept;
  TraceSink& operator=(TraceSink&&) = delete;
  TraceSink(const TraceSink&) = delete;
  TraceSink& operator=(const TraceSink&) = delete;
  ~TraceSink();

  // Sets space aside, so that this much can still be written when the disk is full. Best effort: a
  // file system that cannot do it is no error. Throws Error when the disk is full now.
  void reserve(uint64_t size_bytes) const;

  // Appends. After the first error only counts.
  void append(std::span<const std::byte> bytes);

  // Appends all of it, or nothing and without an error.
  void append_if_it_fits(std::span<const std::byte> bytes);

  // Nothing but the first `size_bytes` shall be in the file: the rest is no use by itself.
  void take_back(uint64_t size_bytes) { written_bytes_ = size_bytes; }

  // From now on nothing is written any more, for this reason (errno).
  void fail(int reason);

  // Replaces the whole content, in place. An error is sticky as in append().
  void rewrite(std::span<const std::byte> bytes);

  // Until the file is closed or this process ends, is_being_written() returns true in other
  // processes.
  void mark_as_being_written() const;

  // Closes the file and gives reserved space back. Harmless when called twice.
  void finish();

  // Closes and removes the file; a device stays. Harmless when called twice, or after finish().
  void discard();

  const std::filesystem::path& path() const { return path_; }
  std::string name() const { return path_.filename().string(); }
  uint64_t written_bytes() const { return written_bytes_; }
  uint64_t discarded_bytes() const { return discarded_bytes_; }
  // errno of the first error, and when it came.
  std::optional<int> error() const { return error_; }
  const Moment& error_moment() const { return error_moment_; }

 private:
  TraceSink(std::filesystem::path path, int fd);
  void set_aside(uint64_t end);
  void write_at(uint64_t position, std::span<const std::byte> bytes);

  std::filesystem::path path_;
  int fd_ = -1;
  uint64_t written_bytes_ = 0;
  uint64_t ahead_bytes_;  // for so many there is space, or it has not been asked for yet
  uint64_t discarded_bytes_ = 0;
  std::optional<int> error_;
  Moment error_moment_;
  // Made when the file system cannot write from where the bytes are: some pin the pages that they
  // write from (9p), and those of a perf ring cannot be pinned.
  std::unique_ptr<std::byte[]> copy_;
};

// Returns whether a live process has marked the file as being written. Returns false on a file
// system without locks.
bool is_being_written(const std::filesystem::path& path);

}  // namespace htmtrace
