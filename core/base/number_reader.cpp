// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <array>
#include <cstring>

#include "core/base/packed_layout.h"
#include "core/base/packed_numbers.h"

namespace htmtrace {
namespace {

// An eight-byte load yields at least kWordBits bits, whichever bit of its first byte comes first.
constexpr unsigned kWordBits = packed::kMostBits + 1;

// Reads consecutive numbers of `bits` bits. The value of each number is its bits * times + more.
struct BitReader {
  std::span<const std::byte> bytes;
  unsigned bits;
  uint64_t times;
  uint64_t more;

  // kAtOnce numbers need at most kWordBits bits.
  template <size_t kAtOnce>
  void read(std::span<uint64_t> values) const {
    const uint64_t mask = (uint64_t{1} << bits) - 1;
    // The loop ends at the last position where eight bytes are readable.
    const size_t last =
        bytes.size() < sizeof(uint64_t) ? 0 : (bytes.size() - sizeof(uint64_t)) * 8 + 8;
    size_t i = 0, bit = 0;
    for (; i + kAtOnce <= values.size() && bit < last; i += kAtOnce, bit += kAtOnce * bits) {
      uint64_t word = packed::load_le64(bytes.data() + bit / 8) >> bit % 8;
      for (size_t j = 0; j < kAtOnce; j++, word >>= bits) {
        values[i + j] = (word & mask) * times + more;
      }
    }
    for (; i < values.size(); i++, bit += bits) {
      std::array<std::byte, sizeof(uint64_t)> end{};
      std::memcpy(end.data(), bytes.data() + bit / 8, std::min(end.size(), bytes.size() - bit / 8));
      values[i] = (packed::load_le64(end.data()) >> bit % 8 & mask) * times + more;
    }
  }
};

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

  const BitReader reader{readable, bits, uint64_t{1} << shift, least};
  if (bits == 0) {
    std::ranges::fill(values, least);
  } else if (bits <= kWordBits / 8) {
    reader.read<8>(values);
  } else if (bits <= kWordBits / 4) {
    reader.read<4>(values);
  } else if (bits <= kWordBits / 2) {
    reader.read<2>(values);
  } else {
    reader.read<1>(values);
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
