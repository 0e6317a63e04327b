// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/base/packed_forms.h"

#include <bit>

namespace htmtrace::packed {
namespace {

size_t bytes_of(uint64_t value) {
  return (static_cast<size_t>(std::bit_width(value)) + 7) / 8;
}

}  // namespace

NumbersForm::NumbersForm(std::span<const uint64_t> values) {
  if (!values.empty()) {
    const uint64_t first = values.front();
    least_ = first;
    for (const uint64_t value : values) {
      least_ = std::min(least_, value);
      differences_ |= value ^ first;
    }
  }
  find_shift();
  // Two counters per width. Adjacent numbers often have the same width, and with one counter each
  // increment would wait for the preceding increment.
  std::array<Widths, 2> of_width{};
  if (constant()) {
    of_width[0][0] = values.size();
  } else {
    size_t i = 0;
    for (; i + 1 < values.size(); i += 2) {
      of_width[0][std::bit_width((values[i] - least_) >> shift_)]++;
      of_width[1][std::bit_width((values[i + 1] - least_) >> shift_)]++;
    }
    if (i < values.size()) of_width[0][std::bit_width((values[i] - least_) >> shift_)]++;
  }
  for (size_t width = 0; width < of_width[0].size(); width++) {
    of_width[0][width] += of_width[1][width];
  }
  find_bits(values.size(), of_width[0]);
  least_bytes_ = bytes_of(least_);
  size_bytes_ = 2 + kPositionBytes + least_bytes_ + bytes_of_bits(values.size(), bits_) +
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

// Writes the lower bits of each number without gaps. Each store writes eight bytes, which have room
// for up to seven bits of the preceding numbers, which do not fill a byte, and up to 56 bits of the
// next number.
void NumbersForm::write_bits(std::span<const uint64_t> values, std::vector<std::byte>& to) const {
  if (bits_ == 0) return;
  const uint64_t mask = (uint64_t{1} << bits_) - 1;
  const size_t begin = to.size(), end = begin + bytes_of_bits(values.size(), bits_);
  to.resize(end + sizeof(uint64_t));
  std::byte* out = to.data() + begin;
  const unsigned bits = bits_, shift = shift_;
  const uint64_t least = least_;
  uint64_t held = 0;
  unsigned held_bits = 0;
  for (const uint64_t value : values) {
    held |= ((value - least) >> shift & mask) << held_bits;
    held_bits += bits;
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
  if (rests_ == 0) return;
  std::vector<uint64_t> rests;
  rests.reserve(rests_);
  for (size_t i = 0; i < values.size(); i++) {
    const uint64_t rest = (values[i] - least_) >> shift_ >> bits_;
    if (rest == 0) continue;
    put_number(to, i, kPositionBytes);
    rests.push_back(rest);
  }
  for (const uint64_t rest : rests) put_number(to, rest, rest_bytes_);
}

}  // namespace htmtrace::packed
