// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "core/base/packed_layout.h"
#include "core/base/packed_numbers.h"

namespace htmtrace {
namespace {

// Reads a number of kBits bits that begins `bit` bits after `from`. Reads eight bytes.
template <unsigned kBits>
uint64_t bits_at(const std::byte* from, size_t bit) {
  constexpr uint64_t kMask = (uint64_t{1} << kBits) - 1;
  return packed::load_le64(from + bit / 8) >> bit % 8 & kMask;
}

// Reads consecutive numbers of kBits bits and adds `more` to each. The number of bits is a
// constant, so that eight numbers need no computed shifts and addresses. This halves the time.
template <unsigned kBits>
void read_bits(std::span<const std::byte> bytes, uint64_t more, std::span<uint64_t> values) {
  constexpr size_t kAtOnce = 8;  // these take kBits bytes
  size_t i = 0;
  const std::byte* from = bytes.data();
  const size_t readable =
      bytes.size() < kBits + sizeof(uint64_t) ? 0 : (bytes.size() - sizeof(uint64_t)) / kBits;
  for (size_t left = std::min(values.size() / kAtOnce, readable); left > 0; left--) {
#pragma GCC unroll 8
    for (size_t j = 0; j < kAtOnce; j++) values[i + j] = bits_at<kBits>(from, j * kBits) + more;
    i += kAtOnce;
    from += kBits;
  }
  const auto rest = bytes.subspan(static_cast<size_t>(from - bytes.data()));
  for (size_t bit = 0; i < values.size(); i++, bit += kBits) {
    std::array<std::byte, sizeof(uint64_t)> end{};
    std::memcpy(end.data(), rest.data() + bit / 8, std::min(end.size(), rest.size() - bit / 8));
    values[i] = bits_at<kBits>(end.data(), bit % 8) + more;
  }
}

using ReadBits = void (*)(std::span<const std::byte>, uint64_t, std::span<uint64_t>);

// Indexed by the number of bits, from 1.
constexpr auto kReadBits = []<size_t... kIndexes>(std::index_sequence<kIndexes...>) {
  return std::array<ReadBits, sizeof...(kIndexes) + 1>{nullptr, read_bits<kIndexes + 1>...};
}
(std::make_index_sequence<packed::kMostBits>());

}  // namespace

std::span<const std::byte> NumberReader::take(size_t bytes) {
  if (bytes > left_.size()) {
    ok_ = false;
    left_ = {};
    return {};
  }
  const auto taken = left_.first(bytes);
  left_ = left_.subspan(bytes);
  return taken;
}

uint64_t NumberReader::number(size_t bytes) {
  uint64_t value = 0;
  unsigned shift = 0;
  for (const std::byte byte : take(bytes)) {
    value |= std::to_integer<uint64_t>(byte) << shift;
    shift += 8;
  }
  return value;
}

void NumberReader::fail(std::span<uint64_t> values) {
  ok_ = false;
  left_ = {};
  std::ranges::fill(values, 0);
}

void NumberReader::numbers(std::span<uint64_t> values) {
  const auto head = static_cast<unsigned>(number(1));
  const unsigned bits = head & packed::kBitsMask;
  const unsigned shift = packed::kShifts[head >> packed::kShiftPlace];
  const uint64_t sizes = number(1);
  const size_t rests = number(packed::kPositionBytes);
  if (bits > packed::kMostBits || sizes >> 4 > 8 || (sizes & 15) > 8) return fail(values);
  const uint64_t least = number(sizes >> 4);
  const auto readable = left_;
  take(packed::bytes_of_bits(values.size(), bits));
  if (!ok_) return fail(values);

  if (bits == 0) {
    std::ranges::fill(values, least);
  } else if (shift == 0) {
    kReadBits[bits](readable, least, values);
  } else {
    kReadBits[bits](readable, 0, values);
    for (uint64_t& value : values) value = (value << shift) + least;
  }
  add_rests(values, rests, bits, shift, sizes & 15);
}

void NumberReader::add_rests(std::span<uint64_t> values, size_t count, unsigned bits,
                             unsigned shift, size_t rest_bytes) {
  if (count == 0) return;
  NumberReader positions(take(count * packed::kPositionBytes)), rests(take(count * rest_bytes));
  if (!ok_) return fail(values);
  for (; count > 0; count--) {
    const uint64_t position = positions.number(packed::kPositionBytes);
    if (position >= values.size()) return fail(values);
    values[position] += rests.number(rest_bytes) << bits << shift;
  }
}

void NumberReader::repeated(std::span<uint64_t> values) {
  const size_t count = number(packed::kCountBytes);
  if (count == packed::kRuns) return runs(values);
  if (count != packed::kSplit) return whole(values, count);
  whole(values, number(packed::kCountBytes));
  lower_.resize(values.size());
  numbers(lower_);
  for (size_t i = 0; i < values.size(); i++)
    values[i] = values[i] << packed::kLowerBits | lower_[i];
}

// The loop has no branch on the data, because the processor would mispredict the end of each run.
void NumberReader::runs(std::span<uint64_t> values) {
  numbers(values);
  size_t count = 0;
  for (const uint64_t differs : values) count += differs & 1;
  lower_.resize(count + 1);
  lower_[0] = 0;  // the value before the first number
  whole(std::span(lower_).subspan(1), number(packed::kCountBytes));
  const uint64_t* now = lower_.data();
  for (uint64_t& value : values) {
    now += value & 1;
    value = *now;
  }
}

void NumberReader::whole(std::span<uint64_t> values, size_t count) {
  if (count == 0) return numbers(values);
  if (count > packed::kMostDistinct) return fail(values);
  distinct_.resize(count);
  numbers(distinct_);
  numbers(values);
  uint64_t largest = 0;
  for (uint64_t& value : values) {
    largest = std::max(largest, value);
    value = distinct_[std::min<uint64_t>(value, count - 1)];
  }
  if (largest >= count) fail(values);
}

}  // namespace htmtrace
