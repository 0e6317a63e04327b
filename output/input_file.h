// SPDX-License-Identifier: GPL-2.0-or-later
// Bytes in, from a file or standard input, in the order they are stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace htmtrace {

class InputFile {
 public:
  // To read at a time: a system call costs little, and the bytes stay in the cache.
  static constexpr size_t kPieceBytes = 256 << 10;

  static InputFile standard_input();

  // Throws Error.
  static InputFile open(const std::filesystem::path& path);

  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  // Reads up to `buffer.size()` bytes; 0 at the end. Throws Error.
  size_t read(std::span<std::byte> buffer);

  // The next read() starts at this byte. Of a regular file only. Throws Error.
  void go_to(uint64_t offset);

  // Everything, for files that are small. Throws Error, also when there are more than `most_bytes`.
  std::vector<std::byte> read_all(uint64_t most_bytes);

  // Of a regular file.
  std::optional<uint64_t> size_bytes() const { return size_bytes_; }
  const std::string& name() const { return name_; }

 private:
  InputFile(int fd, bool owned, std::string name);

  int fd_ = -1;
  bool owned_ = false;
  std::string name_;
  std::optional<uint64_t> size_bytes_;
};

}  // namespace htmtrace
