// SPDX-License-Identifier: GPL-2.0-or-later
// What a file compressed with zstd or gzip holds, in constant memory.
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
  // Gives the next bytes of the file; 0 at the end.
  using Read = std::function<size_t(std::span<std::byte>)>;

  // Throws Error when this build cannot.
  explicit Unpacker(PackedFormat format);
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
  // What a library made of some of the bytes.
  struct Step {
    size_t taken = 0;
    size_t given = 0;
    bool in_frame = true;  // of zstd, or a member of gzip: more of it must follow
    std::string trouble;
  };
  struct Zstd;
  struct Gzip;

  Step step(std::span<const std::byte> packed, std::span<std::byte> room);

  std::unique_ptr<Zstd> zstd_;  // one of the two
  std::unique_ptr<Gzip> gzip_;
  std::vector<std::byte> packed_;
  size_t size_ = 0;  // of what is in it
  size_t used_ = 0;
  uint64_t taken_bytes_ = 0;  // from the file
  bool in_frame_ = false;
  bool ended_ = false;
  std::string trouble_;
};

}  // namespace htmtrace
