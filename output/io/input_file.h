// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a file, extents of a file, or standard input, in the order in which the bytes are stored.
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

#include "core/base/file_extent.h"
#include "core/base/file_identity.h"
#include "output/io/unpacker.h"

namespace htmtrace {

// The type of `path`, which is not_found if no such file exists. Throws Error if the system cannot
// tell.
std::filesystem::file_type type_of_file(const std::filesystem::path& path);

class InputFile {
 public:
  // Bytes of one read: a system call costs little, and the bytes stay in the cache.
  static constexpr size_t kPieceBytes = 128 << 10;

  // `begun` holds the bytes already read from standard input. The input may be compressed.
  static InputFile standard_input(std::vector<std::byte> begun);

  // Throws Error.
  static InputFile open(const std::filesystem::path& path);

  // Like open(), but unpacks a compressed file or pipe. A compressed file has no read_at(), and
  // go_to() reads and drops all preceding bytes. Throws Error.
  static InputFile open_unpacked(const std::filesystem::path& path);

  // Reads only these extents, one after the other. Throws Error, also when `path` is not a regular
  // file.
  static InputFile open(const std::filesystem::path& path, std::vector<FileExtent> extents);

  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  // Reads up to `buffer.size()` bytes; 0 at the end. Throws Error.
  size_t read(std::span<std::byte> buffer);

  // Returns the first `size` bytes, or fewer if the file is shorter.
  std::vector<std::byte> read_begin(size_t size);

  // Makes the next read() start at this byte. Requires a regular() file. Throws Error.
  void go_to(uint64_t offset);

  // Fills `buffer` from `offset` of the whole file, with fewer bytes only at the end of the file.
  // Does not move the position of read(). Requires a regular file. Throws Error.
  size_t read_at(uint64_t offset, std::span<std::byte> buffer) const;

  // Returns nothing unless the file is regular, uncompressed and read as a whole. Throws Error.
  std::optional<FileIdentity> identity() const;

  // Valid after read() has returned 0. States why expected bytes are missing. Empty if the input is
  // complete.
  std::string trouble() const;

  // Sets the expected size of a compressed file's content; trouble() reports a different size.
  void expect(uint64_t content_bytes) { expected_bytes_ = content_bytes; }

  // Reads a small file completely. Throws Error, also when it has more than `most_bytes`, and when
  // a compressed file holds far more than its size justifies.
  std::vector<std::byte> read_all(uint64_t most_bytes);

  // Returns true for a regular file, which can be read again. Standard input may be a regular file.
  bool regular() const { return regular_; }

  // The size of a regular file or of its extents. Empty if a compressed file does not state its
  // size.
  std::optional<uint64_t> size_bytes() const { return size_bytes_; }
  const std::string& name() const { return name_; }
  // Messages print this name instead of the path.
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
  std::vector<std::byte> begun_;  // bytes read from the file and not delivered yet
  std::unique_ptr<Unpacker> unpacker_;
  uint64_t unpacked_bytes_ = 0;  // since the start of the content
  bool unpacked_all_ = false;
  std::optional<uint64_t> expected_bytes_;
  std::vector<FileExtent> extents_;
  bool in_extents_ = false;
  size_t extent_ = 0;         // index of the extent that read() is in
  uint64_t extent_used_ = 0;  // bytes of this extent that were read
};

}  // namespace htmtrace
