// SPDX-License-Identifier: GPL-2.0-or-later
// What a file compressed with zstd holds, in constant memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace htmtrace {

// Whether a file that begins like this is compressed with zstd: RFC 8878, sections 3.1.1 and 3.1.2.
bool is_packed(std::span<const std::byte> begin);
constexpr size_t kPackedMagicBytes = 4;

// How many bytes a file holds when all its frames are whole and say so; nothing when one is cut or
// does not. Reads some bytes of each block.
std::optional<uint64_t> unpacked_size(
    uint64_t file_bytes, const std::function<size_t(uint64_t, std::span<std::byte>)>& read_at);

class Unpacker {
 public:
  // Gives the next bytes of the file; 0 at the end.
  using Read = std::function<size_t(std::span<std::byte>)>;

  // Throws Error when this build cannot.
  Unpacker();
  ~Unpacker();
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  // Up to `buffer.size()` bytes; 0 at the end, and from the place on where the file is cut or
  // damaged.
  size_t read(std::span<std::byte> buffer, const Read& next);

  // The file begins anew.
  void restart();

  // What was wrong with the file; empty: nothing, as far as it was read.
  const std::string& trouble() const { return trouble_; }

 private:
  struct Context;  // of the library

  std::unique_ptr<Context> context_;
  std::vector<std::byte> packed_;
  size_t size_ = 0;  // of what is in it
  size_t used_ = 0;
  uint64_t taken_bytes_ = 0;  // from the file
  bool in_frame_ = false;
  bool ended_ = false;
  std::string trouble_;
};

}  // namespace htmtrace
