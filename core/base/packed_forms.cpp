// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/base/packed_forms.h"

#include <bit>
#include <utility>

namespace htmtrace::packed {
namespace {

size_t bytes_of(uint64_t value) {
  return (static_cast<size_t>(std::bit_width(value)) + 7) / 8;
}

// Eight numbers of N bits take N bytes.
constexpr size_t kWrittenAtOnce = 8;

// Writes the lower kBits bits of each number minus `least`. The number of bits is a constant, so
// that the numbers need no computed shifts and do not wait for each other. Requires a multiple of
// kWrittenAtOnce numbers. Also overwrites up to seven bytes that follow the numbers.
template <unsigned kBits>
void write_bits_of(std::span<const uint64_t> values, uint64_t least, std::byte* out) {
  constexpr uint64_t kMask = (uint64_t{1} << kBits) - 1;
  constexpr unsigned kWord = 64;
  for (size_t i = 0; i < values.size(); i += kWrittenAtOnce, out += kBits) {
    uint64_t held = 0;
#pragma GCC unroll 8
    for (unsigned j = 0; j < kWrittenAtOnce; j++) {
      const uint64_t value = (values[i + j] - least) & kMask;
      const unsigned bit = j * kBits % kWord;
      held |= value << bit;
      if (bit + kBits < kWord) continue;
      store_le64(out + j * kBits / kWord * sizeof(uint64_t), held);
      held = bit + kBits == kWord ? 0 : value >> (kWord - bit);
    }
    if constexpr (kBits % sizeof(uint64_t) != 0) {
      store_le64(out + kBits / sizeof(uint64_t) * sizeof(uint64_t), held);
    }
  }
}

using WriteBits = void (*)(std::span<const uint64_t>, uint64_t, std::byte*);

// Indexed by the number of bits, from 1.
constexpr auto kWriteBits = []<size_t... kIndexes>(std::index_sequence<kIndexes...>) {
  return std::array<WriteBits, sizeof...(kIndexes) + 1>{nullptr, write_bits_of<kIndexes + 1>...};
}
(std::make_index_sequence<kMostBits>());

}  // namespace

NumbersForm::NumbersForm(std::span<const uint64_t> values) {
  find_extent(values);
  find_shift();
  find_size(values.size(), widths_of(values));
}

NumbersForm NumbersForm::of_counts(std::span<const uint32_t> counts) {
  NumbersForm form;
  Widths of_width{};
  size_t count = 0;
  for (size_t number = 0; number < counts.size(); number++) {
    form.differences_ |= number;  // 0 is one of the numbers
    of_width[static_cast<size_t>(std::bit_width(number))] += counts[number];
    count += counts[number];
  }
  form.find_shift();
  form.find_size(count, of_width);
  return form;
}

void NumbersForm::find_extent(std::span<const uint64_t> values) {
  if (values.empty()) return;
  const uint64_t first = values.front();
  // A constant column needs no differences. For other columns, the search usually ends early.
  if (std::ranges::all_of(values, [=](uint64_t each) { return each == first; })) {
    least_ = first;
    return;
  }
  // Two results, because each comparison waits for the result of the preceding comparison.
  std::array<uint64_t, 2> least = {first, first};
  uint64_t differences = 0;
  size_t i = 0;
  for (; i + 1 < values.size(); i += 2) {
    least[0] = std::min(least[0], values[i]);
    least[1] = std::min(least[1], values[i + 1]);
    differences |= (values[i] ^ first) | (values[i + 1] ^ first);
  }
  if (i < values.size()) {
    least[0] = std::min(least[0], values[i]);
    differences |= values[i] ^ first;
  }
  least_ = std::min(least[0], least[1]);
  differences_ = differences;
}

NumbersForm::Widths NumbersForm::widths_of(std::span<const uint64_t> values) const {
  // Several counters per width. Adjacent numbers often have the same width, and with one counter
  // each increment would wait for the preceding increment.
  std::array<Widths, 4> of_width{};
  const auto count_all = [&](const auto& width_of) {
    size_t i = 0;
    for (; i + of_width.size() <= values.size(); i += of_width.size()) {
      for (size_t j = 0; j < of_width.size(); j++) of_width[j][width_of(values[i + j])]++;
    }
    for (; i < values.size(); i++) of_width[0][width_of(values[i])]++;
  };
  // The position of the highest bit of 2 N + 1 is the width of N, also if N is 0.
  const auto short_width = [](uint64_t number) {
    return static_cast<size_t>(__builtin_clzll(2 * number + 1) ^ 63);
  };
  const uint64_t least = least_;
  const unsigned shift = shift_;
  if (constant()) {
    of_width[0][0] = static_cast<uint32_t>(values.size());
  } else if (differences_ >> 63 != 0) {
    count_all([=](uint64_t value) {
      return static_cast<size_t>(std::bit_width((value - least) >> shift));
    });
  } else if (shift != 0) {
    count_all([=](uint64_t value) { return short_width((value - least) >> shift); });
  } else {
    count_all([=](uint64_t value) { return short_width(value - least); });
  }
  for (size_t width = 0; width < of_width[0].size(); width++) {
    for (size_t j = 1; j < of_width.size(); j++) of_width[0][width] += of_width[j][width];
  }
  return of_width[0];
}

void NumbersForm::find_size(size_t count, const Widths& of_width) {
  find_bits(count, of_width);
  least_bytes_ = bytes_of(least_);
  size_bytes_ = 2 + kPositionBytes + least_bytes_ + bytes_of_bits(count, bits_) +
                rests_ * (kPositionBytes + rest_bytes_);
}

// Finds the largest of kShifts that keeps every number exact.
void NumbersForm::find_shift() {
  if (constant()) return;
  which_shift_ = kShifts.size() - 1;
  while (std::countr_zero(differences_) < static_cast<int>(kShifts[which_shift_])) which_shift_--;
  shift_ = kShifts[which_shift_];
}

// Finds the number of bits that makes the whole column smallest.
void NumbersForm::find_bits(size_t count, const Widths& of_width) {
  unsigned widest = 64;
  while (widest > 0 && of_width[widest] == 0) widest--;
  size_t larger = 0, best_cost = SIZE_MAX;
  for (unsigned bits = widest;; bits--) {
    const size_t rest_bytes = (widest - bits + 7) / 8;
    const size_t cost = count * bits + larger * 8 * (kPositionBytes + rest_bytes);
    if (bits <= kMostBits && cost < best_cost) {
      bits_ = bits;
      rests_ = larger;
      rest_bytes_ = larger == 0 ? 0 : rest_bytes;
      best_cost = cost;
    }
    if (bits == 0) return;
    larger += of_width[bits];
  }
}

// Writes the lower bits of each number without gaps.
void NumbersForm::write_bits(std::span<const uint64_t> values, std::vector<std::byte>& to) const {
  if (bits_ == 0) return;
  const size_t begin = to.size(), end = begin + bytes_of_bits(values.size(), bits_);
  to.resize(end + sizeof(uint64_t));
  std::byte* out = to.data() + begin;
  if (shift_ == 0) {
    const size_t at_once = values.size() / kWrittenAtOnce;
    kWriteBits[bits_](values.first(at_once * kWrittenAtOnce), least_, out);
    values = values.subspan(at_once * kWrittenAtOnce);
    out += at_once * bits_;
  }
  // Each store writes eight bytes, which have room for up to seven bits of the preceding numbers,
  // which do not fill a byte, and up to 56 bits of the next number.
  const uint64_t mask = (uint64_t{1} << bits_) - 1;
  uint64_t held = 0;
  unsigned held_bits = 0;
  for (const uint64_t value : values) {
    held |= ((value - least_) >> shift_ & mask) << held_bits;
    held_bits += bits_;
    store_le64(out, held);
    out += held_bits / 8;
    held >>= held_bits & ~7U;
    held_bits %= 8;
  }
  store_le64(out, held);
  to.resize(end);
}

// The fields of a column, in order:
// - 1 byte: bits of each number, index in kShifts;
// - 1 byte: bytes of the smallest number (upper half), bytes of a rest (lower half);
// - 2 bytes: the number of rests;
// - the smallest number;
// - the numbers;
// - the positions of the rests;
// - the rests.
void NumbersForm::write(std::span<const uint64_t> values, std::vector<std::byte>& to) const {
  put_number(to, which_shift_ << kShiftPlace | bits_, 1);
  put_number(to, least_bytes_ << 4 | rest_bytes_, 1);
  put_number(to, rests_, kPositionBytes);
  put_number(to, least_, least_bytes_);
  write_bits(values, to);
  if (rests_ != 0) write_rests(values, to);
}

void NumbersForm::write_rests(std::span<const uint64_t> values, std::vector<std::byte>& to) const {
  // Less than 64, because at least one number has a rest.
  const unsigned rest_at = shift_ + bits_;
  const uint64_t limit = uint64_t{1} << rest_at;
  // One more, because the loop writes each position before it knows whether the number has a rest.
  // A branch on the data would be mispredicted often.
  std::vector<uint16_t> positions(rests_ + 1);
  size_t found = 0;
  for (size_t i = 0; i < values.size(); i++) {
    positions[found] = static_cast<uint16_t>(i);
    found += values[i] - least_ >= limit ? 1 : 0;
  }
  positions.pop_back();
  for (const uint16_t position : positions) put_number(to, position, kPositionBytes);
  for (const uint16_t position : positions) {
    put_number(to, (values[position] - least_) >> rest_at, rest_bytes_);
  }
}

}  // namespace htmtrace::packed
