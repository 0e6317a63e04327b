// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/base/crc32c.h"

#include <doctest/doctest.h>

#include <random>
#include <string_view>
#include <vector>

using namespace htmtrace;

namespace {

std::vector<std::byte> bytes_to_sum(size_t size) {
  std::mt19937 random(1);
  std::vector<std::byte> bytes(size);
  for (std::byte& each : bytes) each = static_cast<std::byte>(random());
  return bytes;
}

// RFC 3720, section 12.1, bit by bit.
uint32_t bitwise_crc32c(std::span<const std::byte> bytes) {
  uint32_t crc = UINT32_MAX;
  for (const std::byte each : bytes) {
    crc ^= std::to_integer<uint32_t>(each);
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82f63b78 : 0);
  }
  return ~crc;
}

}  // namespace

TEST_CASE("crc32c: the examples of RFC 3720, appendix B.4") {
  std::vector<std::byte> bytes(32);
  CHECK(crc32c(bytes) == 0x8a9136aa);
  for (size_t i = 0; i < bytes.size(); i++) bytes[i] = std::byte{0xff};
  CHECK(crc32c(bytes) == 0x62a8ab43);
  for (size_t i = 0; i < bytes.size(); i++) bytes[i] = static_cast<std::byte>(i);
  CHECK(crc32c(bytes) == 0x46dd794e);
  for (size_t i = 0; i < bytes.size(); i++) bytes[i] = static_cast<std::byte>(31 - i);
  CHECK(crc32c(bytes) == 0x113fdb5c);
  CHECK(crc32c({}) == 0);
}

TEST_CASE("crc32c: the tables give the sum of the definition") {
  const auto bytes = bytes_to_sum(300);
  for (size_t size = 0; size <= bytes.size(); size++) {
    const auto part = std::span(bytes).first(size);
    REQUIRE(crc32c_by_tables(part) == bitwise_crc32c(part));
  }
}

// The lengths include several of the parts that the instructions sum at once.
TEST_CASE("crc32c: instructions and tables agree for all lengths and alignments") {
  if (!has_crc32c_instructions()) {
    MESSAGE("skipped: the processor has no instructions for CRC-32C");
    return;
  }
  const auto bytes = bytes_to_sum(5000);
  for (size_t size = 0; size <= 4900; size++) {
    // All alignments of short parts, and each alignment with many lengths of long parts.
    for (size_t begin = size <= 300 ? 0 : size * 7 % 16; begin < 16;
         begin += size <= 300 ? 1 : 16) {
      const auto part = std::span(bytes).subspan(begin, size);
      const auto before = static_cast<uint32_t>(size * 0x9e3779b9);
      REQUIRE(crc32c_by_instructions(part, before) == crc32c_by_tables(part, before));
    }
  }
  const auto large = bytes_to_sum(1 << 20);
  CHECK(crc32c_by_instructions(large) == crc32c_by_tables(large));
}

TEST_CASE("crc32c: the sum of a part continues the sum of the preceding part") {
  const auto bytes = bytes_to_sum(4000);
  const uint32_t whole = crc32c(bytes);
  for (size_t first = 0; first <= bytes.size(); first += 37) {
    const uint32_t before = crc32c(std::span(bytes).first(first));
    REQUIRE(crc32c(std::span(bytes).subspan(first), before) == whole);
  }
}
