// SPDX-License-Identifier: GPL-2.0-or-later
// Recognizes compressed files and computes the size of their content.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace htmtrace {

enum class PackedFormat : uint8_t { kZstd, kGzip };

// Returns the format of a file that begins with these bytes, or nothing for other formats. Checks
// the complete gzip header, because a trace may also begin with the two magic bytes of gzip.
std::optional<PackedFormat> packed_format(std::span<const std::byte> begin);
inline constexpr size_t kPackedMagicBytes = 10;

// Returns the size of the header of the zstd frame that begins with these bytes, or nothing if no
// frame begins here. From fewer than 5 bytes, returns a lower bound that exceeds their number.
std::optional<size_t> bytes_of_zstd_header(std::span<const std::byte> begin);

// Returns the size of a zstd file's content. Returns nothing if a frame is truncated or does not
// state its size. Reads a few bytes of each block.
std::optional<uint64_t> unpacked_size(
    uint64_t file_bytes, const std::function<size_t(uint64_t, std::span<std::byte>)>& read_at);

}  // namespace htmtrace
