// SPDX-License-Identifier: GPL-2.0-or-later
// Bytes in, from a file, stretches of one, or standard input, in the order they are stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/file_extent.h"
#include "core/file_identity.h"
#include "output/unpacker.h"

namespace htmtrace {

class InputFile {
 public:
  // To read at a time: a system call costs little, and the bytes stay in the cache.
  static constexpr size_t kPieceBytes = 128 << 10;

  // `begun`: what was read of it before. It may be compressed.
  static InputFile standard_input(std::vector<std::byte> begun);

  // Throws Error.
  static InputFile open(const std::filesystem::path& path);

  // The same, and what the file, or the pipe, holds when it is compressed. Such a file has no
  // read_at(), and go_to() takes the time of reading all that is before. Throws Error.
  static InputFile open_unpacked(const std::filesystem::path& path);

  // Only these stretches, one behind the other. Throws Error, also when `path` is no regular file.
  static InputFile open(const std::filesystem::path& path, std::vector<FileExtent> extents);

  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  // Reads up to `buffer.size()` bytes; 0 at the end. Throws Error.
  size_t read(std::span<std::byte> buffer);

  // Reads the first `size` bytes, less only at its end.
  std::vector<std::byte> read_begin(size_t size);

  // The next read() starts at this byte. Of a regular() file only. Throws Error.
  void go_to(uint64_t offset);

  // Fills `buffer` from `offset` of the whole file on, less only at its end; read() goes on where
  // it was. Of a regular file only. Throws Error.
  size_t read_at(uint64_t offset, std::span<std::byte> buffer) const;

  // Of a regular file that is not compressed, and is read as a whole; others have none. Throws
  // Error.
  std::optional<FileIdentity> identity() const;

  // After read() has returned 0: why there is no more although there should be. Empty: that was
  // all.
  std::string trouble() const;

  // Sets the expected size of a compressed file's content; trouble() reports a different size.
  void expect(uint64_t content_bytes) { expected_bytes_ = content_bytes; }

  // Everything, for files that are small. Throws Error, also when there are more than `most_bytes`.
  std::vector<std::byte> read_all(uint64_t most_bytes);

  // It can be read again: a regular file. Standard input counts as one when it is one.
  bool regular() const { return regular_; }

  // Of a regular file, or of the stretches of one; nothing when a compressed one does not tell.
  std::optional<uint64_t> size_bytes() const { return size_bytes_; }
  const std::string& name() const { return name_; }
  // For people, instead of its path.
  void show_as(std::string name) { name_ = std::move(name); }

 private:
  InputFile(int fd, bool owned, std::string name);
  void begin_with(std::vector<std::byte> begun);
  void unpack(PackedFormat format);
  size_t read_file(std::span<std::byte> buffer);
  size_t read_extents(std::span<std::byte> buffer);

  int fd_ = -1;
  bool owned_ = false;
  std::string name_;
  bool regular_ = false;
  std::optional<uint64_t> size_bytes_;
  std::vector<std::byte> begun_;  // read of the file, and not given to anyone yet
  std::unique_ptr<Unpacker> unpacker_;
  uint64_t unpacked_bytes_ = 0;  // since its beginning
  bool unpacked_all_ = false;
  std::optional<uint64_t> expected_bytes_;
  std::vector<FileExtent> extents_;
  bool in_extents_ = false;
  size_t extent_ = 0;         // the one that read() is in
  uint64_t extent_used_ = 0;  // of it
};

}  // namespace htmtrace
