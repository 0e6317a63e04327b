// SPDX-License-Identifier: GPL-2.0-or-later
// CRC-32C (Castagnoli), RFC 3720 section 12.1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace htmtrace {

// `before` is the checksum of the bytes that precede `bytes`. Uses the processor's instructions if
// it has them.
uint32_t crc32c(std::span<const std::byte> bytes, uint32_t before = 0);

// Two ways to compute the same result, for the tests.
uint32_t crc32c_by_tables(std::span<const std::byte> bytes, uint32_t before = 0);
// Requires has_crc32c_instructions().
uint32_t crc32c_by_instructions(std::span<const std::byte> bytes, uint32_t before = 0);

// True on x86-64 with SSE4.2. On little-endian POWER, true if the processor has vector.crypto
// (POWER8 and later), and the compiler may use it.
bool has_crc32c_instructions();

}  // namespace htmtrace
