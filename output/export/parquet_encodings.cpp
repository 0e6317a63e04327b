// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/export/parquet_encodings.h"

#include <algorithm>
#include <array>
#include <bit>

#include "core/base/spread.h"

namespace htmtrace::parquet {
namespace {

// Encodings.md, "Delta encoding": the writer chooses both sizes.
constexpr size_t kMiniblock = 32;
constexpr size_t kMiniblocks = 4;
constexpr size_t kBlock = kMiniblocks * kMiniblock;

void put_number(uint64_t value, Bytes& out) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

void put_zigzag(uint64_t value, Bytes& out) {
  put_number(value << 1 ^ static_cast<uint64_t>(static_cast<int64_t>(value) >> 63), out);
}

char* put_bytes(char* to, uint64_t value, unsigned size_bytes) {
  for (unsigned i = 0; i < size_bytes; i++) *to++ = static_cast<char>(value >> 8 * i);
  return to;
}

// The lowest bits first. The values have at most `width` bits.
void pack_miniblock(const uint64_t* values, unsigned width, Bytes& out) {
  const size_t begin = out.size();
  out.resize(begin + kMiniblock / 8 * width);
  char* to = out.data() + begin;
  uint64_t word = 0;
  unsigned used = 0;
  for (size_t i = 0; i < kMiniblock; i++) {
    word |= values[i] << used;
    used += width;
    if (used < 64) continue;
    to = put_bytes(to, word, 8);
    used -= 64;
    word = used == 0 ? 0 : values[i] >> (width - used);
  }
  if (used != 0) put_bytes(to, word, 4);  // an odd number of 32-bit words
}

using Block = std::array<uint64_t, kBlock>;

// Replaces the differences by their distances from the least one. Writes `count` of them.
void put_delta_block(Block& deltas, size_t count, Bytes& out) {
  auto least = static_cast<int64_t>(deltas[0]);
  for (const uint64_t delta : deltas) least = std::min(least, static_cast<int64_t>(delta));
  put_zigzag(static_cast<uint64_t>(least), out);
  for (uint64_t& delta : deltas) delta -= static_cast<uint64_t>(least);
  std::array<unsigned, kMiniblocks> widths{};
  for (size_t i = 0; i < kMiniblocks; i++) {
    uint64_t bits = 0;
    for (size_t j = 0; j < kMiniblock; j++) bits |= deltas[i * kMiniblock + j];
    widths[i] = static_cast<unsigned>(std::bit_width(bits));
    out.push_back(static_cast<char>(widths[i]));
  }
  // The block ends with the miniblock of the last value.
  for (size_t i = 0; i * kMiniblock < count; i++) {
    if (widths[i] != 0) pack_miniblock(&deltas[i * kMiniblock], widths[i], out);
  }
}

// Encodings.md, "RLE/Bit-Packing Hybrid": groups of eight values.
template <class Value>
void put_hybrid(std::span<const Value> values, unsigned width, Bytes& out) {
  if (values.empty()) return;
  const Value first = values.front();
  if (std::ranges::all_of(values, [&](Value value) { return value == first; })) {
    put_number(values.size() << 1, out);
    for (unsigned i = 0; i < width; i += 8) out.push_back(static_cast<char>(first >> i));
    return;
  }
  const size_t groups = (values.size() + 7) / 8;
  put_number(groups << 1 | 1, out);
  const size_t begin = out.size();
  out.resize(begin + groups * width);
  char* to = out.data() + begin;
  if (width >= 8) {
    for (const Value value : values) to = put_bytes(to, value, width / 8);
    return;
  }
  const unsigned together = 8 / width;
  for (size_t i = 0; i < values.size(); i += together) {
    unsigned byte = 0;
    const size_t end = std::min<size_t>(i + together, values.size());
    for (size_t j = i; j < end; j++) byte |= static_cast<unsigned>(values[j]) << (j - i) * width;
    *to++ = static_cast<char>(byte);
  }
}

}  // namespace

void put_plain(std::span<const uint64_t> values, unsigned size_bytes, Bytes& out) {
  const size_t begin = out.size();
  out.resize(begin + values.size() * size_bytes);
  char* to = out.data() + begin;
  for (const uint64_t value : values) to = put_bytes(to, value, size_bytes);
}

void put_text(std::string_view text, Bytes& out) {
  const uint64_t size = text.size();
  put_plain({&size, 1}, 4, out);
  out.insert(out.end(), text.begin(), text.end());
}

void put_deltas(std::span<const uint64_t> values, Bytes& out) {
  put_number(kBlock, out);
  put_number(kMiniblocks, out);
  put_number(values.size(), out);
  put_zigzag(values.empty() ? 0 : values.front(), out);
  Block deltas;
  for (size_t i = 1; i < values.size(); i += kBlock) {
    const size_t count = std::min(kBlock, values.size() - i);
    for (size_t j = 0; j < count; j++) deltas[j] = values[i + j] - values[i + j - 1];
    // Readers ignore the rest of the last miniblock.
    std::fill(deltas.begin() + static_cast<ptrdiff_t>(count), deltas.end(), deltas[0]);
    put_delta_block(deltas, count, out);
  }
}

void put_runs(std::span<const uint8_t> values, unsigned width, Bytes& out) {
  put_hybrid(values, width, out);
}

void put_runs(std::span<const uint16_t> values, unsigned width, Bytes& out) {
  put_hybrid(values, width, out);
}

bool Dictionary::build(std::span<const uint64_t> values) {
  // If most of the first values are distinct, the rest is probably no better.
  constexpr size_t kProbe = 1 << 14;
  constexpr size_t kMostOfProbe = kProbe / 4 * 3;
  places_.assign(size_t{1} << kPlaceBits, 0);
  entries_.clear();
  indices_.resize(values.size());
  for (size_t i = 0; i < values.size(); i++) {
    size_t place = secret_place(values[i], places_.size());
    while (places_[place] != 0 && entries_[places_[place] - 1] != values[i]) {
      place = (place + 1) % places_.size();
    }
    if (places_[place] == 0) {
      if (entries_.size() == kMostEntries) return false;
      if (i < kProbe && entries_.size() == kMostOfProbe) return false;
      entries_.push_back(values[i]);
      places_[place] = static_cast<uint32_t>(entries_.size());
    }
    indices_[i] = static_cast<uint16_t>(places_[place] - 1);
  }
  return true;
}

}  // namespace htmtrace::parquet
