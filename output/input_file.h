// SPDX-License-Identifier: GPL-2.0-or-later
// Bytes in, from a file, stretches of one, or standard input, in the order they are stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/file_extent.h"

namespace htmtrace {

class InputFile {
 public:
  // To read at a time: a system call costs little, and the bytes stay in the cache.
  static constexpr size_t kPieceBytes = 128 << 10;

  static InputFile standard_input();

  // Throws Error.
  static InputFile open(const std::filesystem::path& path);

  // Only these stretches, one behind the other. Throws Error, also when `path` is no regular file.
  static InputFile open(const std::filesystem::path& path, std::vector<FileExtent> extents);

  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  // Reads up to `buffer.size()` bytes; 0 at the end. Throws Error.
  size_t read(std::span<std::byte> buffer);

  // The next read() starts at this byte. Of a regular file only. Throws Error.
  void go_to(uint64_t offset);

  // Fills `buffer` from `offset` of the whole file on, less only at its end; read() goes on where
  // it was. Of a regular file only. Throws Error.
  size_t read_at(uint64_t offset, std::span<std::byte> buffer) const;

  // Everything, for files that are small. Throws Error, also when there are more than `most_bytes`.
  std::vector<std::byte> read_all(uint64_t most_bytes);

  // Of a regular file, or of the stretches of one.
  std::optional<uint64_t> size_bytes() const { return size_bytes_; }
  const std::string& name() const { return name_; }

 private:
  InputFile(int fd, bool owned, std::string name);
  size_t read_extents(std::span<std::byte> buffer);

  int fd_ = -1;
  bool owned_ = false;
  std::string name_;
  std::optional<uint64_t> size_bytes_;
  std::vector<FileExtent> extents_;
  bool in_extents_ = false;
  size_t extent_ = 0;         // the one that read() is in
  uint64_t extent_used_ = 0;  // of it
};

}  // namespace htmtrace
