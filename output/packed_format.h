// SPDX-License-Identifier: GPL-2.0-or-later
// How a compressed file is told from one that is not, and how much it holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace htmtrace {

enum class PackedFormat : uint8_t { kZstd, kGzip };

// The format of a file that begins like this; nothing when it is none of them. A whole header of
// gzip must make sense, because the two bytes of its magic may also begin a trace.
std::optional<PackedFormat> packed_format(std::span<const std::byte> begin);
inline constexpr size_t kPackedMagicBytes = 10;

// How many bytes a file of zstd holds when all its frames are whole and say so; nothing when one is
// cut or does not. Reads some bytes of each block.
std::optional<uint64_t> unpacked_size(
    uint64_t file_bytes, const std::function<size_t(uint64_t, std::span<std::byte>)>& read_at);

}  // namespace htmtrace
