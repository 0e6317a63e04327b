// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/packed_numbers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace htmtrace {
namespace {

// So many bits can be read with eight bytes from any bit of a byte on.
constexpr unsigned kMostBits = 56;
constexpr size_t kPositionBytes = 2;
constexpr size_t kCountBytes = 2;
constexpr size_t kMostDistinct = 1024;
// Instead of a count. Addresses lie close together in several places far from each other: 64 KiB
// are such a place.
constexpr size_t kSplit = 65535;
// Likewise. Most are equal to the one before.
constexpr size_t kRuns = 65534;
constexpr unsigned kLowerBits = 16;
// How many of the lowest bits are zero in all numbers of a column: of addresses of instructions, of
// doublewords, of pages. Which of these is in the two bits above the number of bits.
constexpr std::array<unsigned, 4> kShifts{0, 2, 3, 12};
constexpr unsigned kShiftPlace = 6;
constexpr unsigned kBitsMask = (1U << kShiftPlace) - 1;
constexpr uint64_t kLowerMask = (uint64_t{1} << kLowerBits) - 1;

// Little-endian, so that a number that crosses bytes is a shift and a mask.
uint64_t load_le64(const std::byte* from) {
  uint64_t value = 0;
  std::memcpy(&value, from, sizeof(value));
  if constexpr (std::endian::native == std::endian::big) value = __builtin_bswap64(value);
  return value;
}

void store_le64(std::byte* to, uint64_t value) {
  if constexpr (std::endian::native == std::endian::big) value = __builtin_bswap64(value);
  std::memcpy(to, &value, sizeof(value));
}

void put_number(std::vector<std::byte>& to, uint64_t value, size_t bytes) {
  for (; bytes > 0; bytes--, value >>= 8) to.push_back(static_cast<std::byte>(value));
}

size_t bytes_of(uint64_t value) {
  return (static_cast<size_t>(std::bit_width(value)) + 7) / 8;
}

size_t bytes_of_bits(size_t count, unsigned bits) {
  return (count * bits + 7) / 8;
}

// The largest of kShifts that loses nothing.
unsigned best_shift(std::span<const uint64_t> values, uint64_t least) {
  uint64_t all = 0;
  for (const uint64_t value : values) all |= value - least;
  unsigned which = kShifts.size() - 1;
  while (which > 0 && std::countr_zero(all) < static_cast<int>(kShifts[which])) which--;
  return all == 0 ? 0 : which;
}

// The number of bits with which least is taken altogether.
unsigned best_bits(std::span<const uint64_t> values, uint64_t least, unsigned shift) {
  std::array<size_t, 65> of_width{};
  for (const uint64_t value : values) of_width[std::bit_width((value - least) >> shift)]++;
  unsigned widest = 64;
  while (widest > 0 && of_width[widest] == 0) widest--;
  size_t larger = 0, best_cost = SIZE_MAX;
  unsigned best = 0;
  for (unsigned bits = widest;; bits--) {
    const size_t rest_bytes = (widest - bits + 7) / 8;
    const size_t cost = values.size() * bits + larger * 8 * (kPositionBytes + rest_bytes);
    if (bits <= kMostBits && cost < best_cost) {
      best = bits;
      best_cost = cost;
    }
    if (bits == 0) return best;
    larger += of_width[bits];
  }
}

// What the numbers are, most frequent first, and which one each is. False when they are too many.
class Distinct {
 public:
  bool find(std::span<const uint64_t> values) {
    slots_.fill(kFree);
    which_.reserve(values.size());
    for (const uint64_t value : values) {
      size_t slot = value * 0x9e3779b97f4a7c15 >> (64 - kSlotBits);  // multiplicative hashing
      while (slots_[slot] != kFree && values_[slots_[slot]] != value) slot = (slot + 1) % kSlots;
      if (slots_[slot] == kFree) {
        if (values_.size() == kMostDistinct) return false;
        slots_[slot] = static_cast<uint16_t>(values_.size());
        values_.push_back(value);
        counts_.push_back(0);
      }
      counts_[slots_[slot]]++;
      which_.push_back(slots_[slot]);
    }
    sort();
    return true;
  }

  std::span<const uint64_t> values() const { return values_; }
  std::span<const uint64_t> which() const { return which_; }

 private:
  static constexpr unsigned kSlotBits = 12;
  static constexpr size_t kSlots = 1 << kSlotBits;
  static constexpr uint16_t kFree = UINT16_MAX;

  void sort() {
    std::vector<uint16_t> order(values_.size()), place(values_.size());
    for (size_t i = 0; i < order.size(); i++) order[i] = static_cast<uint16_t>(i);
    std::ranges::stable_sort(order,
                             [&](uint16_t a, uint16_t b) { return counts_[a] > counts_[b]; });
    std::vector<uint64_t> sorted(values_.size());
    for (size_t i = 0; i < order.size(); i++) {
      sorted[i] = values_[order[i]];
      place[order[i]] = static_cast<uint16_t>(i);
    }
    values_ = std::move(sorted);
    for (uint64_t& which : which_) which = place[which];
  }

  std::array<uint16_t, kSlots> slots_;
  std::vector<uint64_t> values_, which_;
  std::vector<uint32_t> counts_;
};

void append(std::vector<std::byte>& to, const std::vector<std::byte>& bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

// The lower bits of each, one behind the other. Eight bytes are written at a time: 56 bits at most
// and the seven that may be left of the number before.
void put_bits(std::vector<std::byte>& to, std::span<const uint64_t> values, uint64_t least,
              unsigned shift, unsigned bits) {
  if (bits == 0) return;
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  const size_t begin = to.size(), end = begin + bytes_of_bits(values.size(), bits);
  to.resize(end + sizeof(uint64_t));
  std::byte* out = to.data() + begin;
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

// As a list of those that there are, or one after the other.
void pack_whole(std::span<const uint64_t> values, std::vector<std::byte>& to) {
  std::vector<std::byte> plain, list;
  put_number(plain, 0, kCountBytes);
  pack_numbers(values, plain);
  Distinct distinct;
  if (distinct.find(values)) {
    put_number(list, distinct.values().size(), kCountBytes);
    pack_numbers(distinct.values(), list);
    pack_numbers(distinct.which(), list);
  }
  append(to, !list.empty() && list.size() < plain.size() ? list : plain);
}

// The upper bits, and the lower ones apart.
std::vector<std::byte> split_form(std::span<const uint64_t> values) {
  std::vector<std::byte> form;
  std::vector<uint64_t> parts(values.begin(), values.end());
  for (uint64_t& part : parts) part >>= kLowerBits;
  put_number(form, kSplit, kCountBytes);
  pack_whole(parts, form);
  for (size_t i = 0; i < parts.size(); i++) parts[i] = values[i] & kLowerMask;
  pack_numbers(parts, form);
  return form;
}

// Which ones are not equal to the one before (0 before the first), how many these are, and they.
std::vector<std::byte> runs_form(std::span<const uint64_t> values) {
  std::vector<std::byte> form;
  std::vector<uint64_t> differs(values.size()), others;
  uint64_t before = 0;
  for (size_t i = 0; i < values.size(); i++) {
    differs[i] = values[i] != before ? 1 : 0;
    if (differs[i] != 0) others.push_back(values[i]);
    before = values[i];
  }
  put_number(form, kRuns, kCountBytes);
  pack_numbers(differs, form);
  pack_whole(others, form);
  return form;
}

}  // namespace

// Bits of each, and which of kShifts; bytes of the least (upper half) and of a rest; 2 bytes: how
// many rests; the least; the numbers; positions of the rests; the rests.
void pack_numbers(std::span<const uint64_t> values, std::vector<std::byte>& to) {
  const uint64_t least = values.empty() ? 0 : *std::ranges::min_element(values);
  const unsigned which_shift = best_shift(values, least), shift = kShifts[which_shift];
  const unsigned bits = best_bits(values, least, shift);
  uint64_t largest_rest = 0;
  size_t rests = 0;
  for (const uint64_t value : values) {
    const uint64_t rest = (value - least) >> shift >> bits;
    largest_rest = std::max(largest_rest, rest);
    rests += rest != 0 ? 1 : 0;
  }
  const size_t least_bytes = bytes_of(least), rest_bytes = bytes_of(largest_rest);
  put_number(to, which_shift << kShiftPlace | bits, 1);
  put_number(to, least_bytes << 4 | rest_bytes, 1);
  put_number(to, rests, kPositionBytes);
  put_number(to, least, least_bytes);

  put_bits(to, values, least, shift, bits);

  if (rests == 0) return;
  for (size_t i = 0; i < values.size(); i++) {
    if ((values[i] - least) >> shift >> bits != 0) put_number(to, i, kPositionBytes);
  }
  for (const uint64_t value : values) {
    if (const uint64_t rest = (value - least) >> shift >> bits; rest != 0)
      put_number(to, rest, rest_bytes);
  }
}

// 2 bytes: how many there are; they; which one each is. Or 0 and the numbers; or kSplit or kRuns,
// and these forms.
void pack_repeated(std::span<const uint64_t> values, std::vector<std::byte>& to) {
  std::vector<std::byte> shortest;
  pack_whole(values, shortest);
  for (auto* form : {split_form, runs_form}) {
    std::vector<std::byte> other = form(values);
    if (other.size() < shortest.size()) shortest.swap(other);
  }
  append(to, shortest);
}

void pack_word(uint64_t value, std::vector<std::byte>& to) {
  put_number(to, value, sizeof(value));
}

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
  const unsigned bits = head & kBitsMask, shift = kShifts[head >> kShiftPlace];
  const uint64_t sizes = number(1);
  const size_t rests = number(kPositionBytes);
  if (bits > kMostBits || sizes >> 4 > 8 || (sizes & 15) > 8) return fail(values);
  const uint64_t least = number(sizes >> 4);
  const std::byte* from = left_.data();
  const size_t readable = left_.size();
  take(bytes_of_bits(values.size(), bits));
  if (!ok_) return fail(values);

  const uint64_t mask = (uint64_t{1} << bits) - 1;
  // As long as eight bytes can be read behind the first bit of a number.
  size_t quick = values.size();
  if (bits != 0 && readable < bytes_of_bits(values.size(), bits) + sizeof(uint64_t)) {
    quick =
        readable < sizeof(uint64_t) ? 0 : std::min(quick, (readable - sizeof(uint64_t)) * 8 / bits);
  }
  if (bits == 0) {
    std::ranges::fill(values, 0);
  } else {
    size_t bit = 0;
    for (size_t i = 0; i < quick; i++, bit += bits) {
      values[i] = load_le64(from + bit / 8) >> bit % 8 & mask;
    }
    for (size_t i = quick; i < values.size(); i++, bit += bits) {
      std::array<std::byte, sizeof(uint64_t)> end{};
      std::memcpy(end.data(), from + bit / 8, std::min(end.size(), readable - bit / 8));
      values[i] = load_le64(end.data()) >> bit % 8 & mask;
    }
  }
  add_rests(values, rests, bits, sizes & 15);
  if (least != 0 || shift != 0) {
    for (uint64_t& value : values) value = (value << shift) + least;
  }
}

void NumberReader::add_rests(std::span<uint64_t> values, size_t count, unsigned bits,
                             size_t rest_bytes) {
  if (count == 0) return;
  NumberReader positions(take(count * kPositionBytes)), rests(take(count * rest_bytes));
  if (!ok_) return fail(values);
  for (; count > 0; count--) {
    const uint64_t position = positions.number(kPositionBytes);
    if (position >= values.size()) return fail(values);
    values[position] |= rests.number(rest_bytes) << bits;
  }
}

void NumberReader::repeated(std::span<uint64_t> values) {
  const size_t count = number(kCountBytes);
  if (count == kRuns) return runs(values);
  if (count != kSplit) return whole(values, count);
  whole(values, number(kCountBytes));
  lower_.resize(values.size());
  numbers(lower_);
  for (size_t i = 0; i < values.size(); i++) values[i] = values[i] << kLowerBits | lower_[i];
}

void NumberReader::runs(std::span<uint64_t> values) {
  numbers(values);
  size_t count = 0;
  for (const uint64_t differs : values) count += differs & 1;
  lower_.resize(count);
  whole(lower_, number(kCountBytes));
  uint64_t before = 0;
  size_t next = 0;
  for (uint64_t& value : values) {
    if ((value & 1) != 0) before = lower_[next++];
    value = before;
  }
}

void NumberReader::whole(std::span<uint64_t> values, size_t count) {
  if (count == 0) return numbers(values);
  if (count > kMostDistinct) return fail(values);
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
