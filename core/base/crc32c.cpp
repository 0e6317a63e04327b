// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/base/crc32c.h"

#include <array>
#include <bit>
#include <cstring>

#include "core/base/big_endian.h"

namespace htmtrace {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;  // reflected

// kCrcTables[N] holds the sums of each byte followed by N zero bytes. by_tables() looks up sixteen
// bytes at once, which halves the chain of dependent steps compared with eight bytes.
constexpr auto kCrcTables = [] {
  std::array<std::array<uint32_t, 256>, 16> tables{};
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; bit++) value = value >> 1 ^ ((value & 1) != 0 ? kPolynomial : 0);
    tables[0][i] = value;
  }
  for (size_t zeros = 1; zeros < tables.size(); zeros++) {
    for (size_t i = 0; i < 256; i++) {
      const uint32_t shorter = tables[zeros - 1][i];
      tables[zeros][i] = shorter >> 8 ^ tables[0][shorter & 0xff];
    }
  }
  return tables;
}();

// The functions below use the register of the sum, which is the complement of a checksum.
uint32_t by_tables(std::span<const std::byte> bytes, uint32_t crc) {
  for (; bytes.size() >= 16; bytes = bytes.subspan(16)) {
    const uint64_t first = __builtin_bswap64(load_be64(bytes.data())) ^ crc;
    const uint64_t second = __builtin_bswap64(load_be64(bytes.data() + 8));
    crc = 0;
    for (size_t i = 0; i < 8; i++) {
      crc ^=
          kCrcTables[15 - i][first >> (8 * i) & 0xff] ^ kCrcTables[7 - i][second >> (8 * i) & 0xff];
    }
  }
  for (const std::byte each : bytes) {
    crc = crc >> 8 ^ kCrcTables[0][(crc ^ std::to_integer<uint32_t>(each)) & 0xff];
  }
  return crc;
}

#if defined(__x86_64__)

// The result of the instruction takes three cycles, but each cycle can start an instruction. The
// loop therefore sums three parts at once.
constexpr size_t kCrcPartBytes = 512;

// kAfterPart[N][B]: the register after a part of zero bytes, if byte N of the register was B and
// the others were 0. The register is linear in its bits.
constexpr auto kAfterPart = [] {
  std::array<std::array<uint32_t, 256>, 4> tables{};
  for (size_t at = 0; at < tables.size(); at++) {
    for (uint32_t bit = 1; bit < 256; bit <<= 1) {
      uint32_t crc = bit << 8 * at;
      for (size_t i = 0; i < kCrcPartBytes; i++) crc = crc >> 8 ^ kCrcTables[0][crc & 0xff];
      for (uint32_t lower = 0; lower < bit; lower++) {
        tables[at][bit | lower] = crc ^ tables[at][lower];
      }
    }
  }
  return tables;
}();

uint32_t after_part(uint32_t crc) {
  return kAfterPart[0][crc & 0xff] ^ kAfterPart[1][crc >> 8 & 0xff] ^
         kAfterPart[2][crc >> 16 & 0xff] ^ kAfterPart[3][crc >> 24];
}

bool find_instructions() {
  return __builtin_cpu_supports("sse4.2") != 0;
}

[[gnu::target("sse4.2")]] uint32_t by_instructions(std::span<const std::byte> bytes, uint32_t crc) {
  const std::byte* at = bytes.data();
  size_t left = bytes.size();
  const auto word = [](const std::byte* from) {
    uint64_t value = 0;
    std::memcpy(&value, from, sizeof(value));
    return value;
  };
  for (; left >= 3 * kCrcPartBytes; left -= 3 * kCrcPartBytes, at += 3 * kCrcPartBytes) {
    uint64_t first = crc, second = 0, third = 0;
    for (size_t i = 0; i < kCrcPartBytes; i += sizeof(uint64_t)) {
      first = __builtin_ia32_crc32di(first, word(at + i));
      second = __builtin_ia32_crc32di(second, word(at + i + kCrcPartBytes));
      third = __builtin_ia32_crc32di(third, word(at + i + 2 * kCrcPartBytes));
    }
    const uint32_t two = after_part(static_cast<uint32_t>(first)) ^ static_cast<uint32_t>(second);
    crc = after_part(two) ^ static_cast<uint32_t>(third);
  }
  uint64_t wide = crc;
  for (; left >= sizeof(uint64_t); left -= sizeof(uint64_t), at += sizeof(uint64_t)) {
    wide = __builtin_ia32_crc32di(wide, word(at));
  }
  crc = static_cast<uint32_t>(wide);
  for (; left > 0; left--, at++) {
    crc = __builtin_ia32_crc32qi(crc, std::to_integer<uint8_t>(*at));
  }
  return crc;
}

#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__) && defined(__CRYPTO__)

// Computes the sum by carry-less multiplication (Gopal and others, "Fast CRC Computation for
// Generic Polynomials Using PCLMULQDQ Instruction", 2009). A vector holds 16 bytes of the message.
// Their first bit is the highest coefficient, and the lowest bit of the vector.
typedef unsigned long long CrcWords __attribute__((vector_size(16)));

// The remainder of x^power, as a doubleword in the same order of bits.
constexpr unsigned long long power_of_x(unsigned power) {
  uint32_t value = 0x80000000;  // 1
  for (; power > 0; power--) value = value >> 1 ^ ((value & 1) != 0 ? kPolynomial : 0);
  return static_cast<unsigned long long>(value) << 32;
}

// Independent vectors, so that the multiplications, which take six cycles, overlap.
constexpr size_t kCrcVectors = 8;

// The factors that multiply a vector by x^bits. The product of two reversed numbers is one bit too
// low, which the exponents correct.
constexpr CrcWords factors_of(unsigned bits) {
  return CrcWords{power_of_x(bits + 64 - 1), power_of_x(bits - 1)};
}

bool find_instructions() {
  return __builtin_cpu_supports("vcrypto") != 0;
}

uint32_t by_instructions(std::span<const std::byte> bytes, uint32_t crc) {
  constexpr size_t kStep = kCrcVectors * sizeof(CrcWords);
  if (bytes.size() < kStep) return by_tables(bytes, crc);
  const auto vector = [](const std::byte* from) {
    CrcWords value;
    std::memcpy(&value, from, sizeof(value));
    return value;
  };
  std::array<CrcWords, kCrcVectors> sums;
  for (size_t i = 0; i < kCrcVectors; i++) sums[i] = vector(bytes.data() + i * sizeof(CrcWords));
  sums[0] ^= CrcWords{crc, 0};
  constexpr CrcWords far = factors_of(8 * kStep);
  for (bytes = bytes.subspan(kStep); bytes.size() >= kStep; bytes = bytes.subspan(kStep)) {
    for (size_t i = 0; i < kCrcVectors; i++) {
      sums[i] = reinterpret_cast<CrcWords>(__builtin_crypto_vpmsumd(sums[i], far)) ^
                vector(bytes.data() + i * sizeof(CrcWords));
    }
  }
  constexpr CrcWords near = factors_of(8 * sizeof(CrcWords));
  CrcWords sum = sums[0];
  for (size_t i = 1; i < kCrcVectors; i++) {
    sum = reinterpret_cast<CrcWords>(__builtin_crypto_vpmsumd(sum, near)) ^ sums[i];
  }
  // The vector has the same remainder as all bytes that precede the rest.
  std::array<std::byte, sizeof(CrcWords)> last;
  std::memcpy(last.data(), &sum, sizeof(sum));
  return by_tables(bytes, by_tables(last, 0));
}

#else

bool find_instructions() {
  return false;
}

uint32_t by_instructions(std::span<const std::byte> bytes, uint32_t crc) {
  return by_tables(bytes, crc);
}

#endif

}  // namespace

bool has_crc32c_instructions() {
  static const bool found = find_instructions();
  return found;
}

uint32_t crc32c_by_tables(std::span<const std::byte> bytes, uint32_t before) {
  return ~by_tables(bytes, ~before);
}

uint32_t crc32c_by_instructions(std::span<const std::byte> bytes, uint32_t before) {
  return ~by_instructions(bytes, ~before);
}

uint32_t crc32c(std::span<const std::byte> bytes, uint32_t before) {
  return has_crc32c_instructions() ? crc32c_by_instructions(bytes, before)
                                   : crc32c_by_tables(bytes, before);
}

}  // namespace htmtrace
