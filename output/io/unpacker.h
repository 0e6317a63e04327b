// SPDX-License-Identifier: GPL-2.0-or-later
// Unpacks a file that zstd or gzip compressed, in constant memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "output/io/packed_format.h"

namespace htmtrace {

class Unpacker {
 public:
  // Reads the next bytes of the compressed file. Returns their number; 0 at the end.
  using Read = std::function<size_t(std::span<std::byte>)>;

  // Throws Error if this build cannot unpack the format.
  explicit Unpacker(PackedFormat format);
  ~Unpacker();
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  // Unpacks up to `buffer.size()` bytes, and returns their number. Returns 0 at the end, and from
  // the offset on where the file is cut or damaged.
  size_t read(std::span<std::byte> buffer, const Read& next);

  // Prepares for another pass: `next` delivers the file from its first byte.
  void restart();

  // The number of bytes read from the file, since its first byte.
  uint64_t taken_bytes() const { return taken_bytes_; }

  // The defect of the file. Empty if the part read so far has none.
  const std::string& trouble() const { return trouble_; }

 private:
  // The result of one call of a library.
  struct Step {
    size_t taken = 0;      // consumed bytes of the file
    size_t given = 0;      // unpacked bytes
    bool in_frame = true;  // a zstd frame or a gzip member is unfinished
    std::string trouble;
  };
  struct Zstd;
  struct Gzip;

  void fetch(const Read& next);
  Step step(std::span<const std::byte> packed, std::span<std::byte> room);

  std::unique_ptr<Zstd> zstd_;  // one of these two is null
  std::unique_ptr<Gzip> gzip_;
  std::vector<std::byte> packed_;
  size_t size_ = 0;           // number of valid bytes in packed_
  size_t used_ = 0;           // number of these bytes that are unpacked
  uint64_t taken_bytes_ = 0;  // number of bytes read from the file
  uint64_t given_bytes_ = 0;  // number of unpacked bytes
  uint64_t frame_begin_ = 0;  // given_bytes_ where the zstd frame or gzip member begins
  bool in_frame_ = false;
  bool ended_ = false;
  bool file_ended_ = false;
  std::string trouble_;
};

}  // namespace htmtrace
