// SPDX-License-Identifier: GPL-2.0-or-later
// The forms of a packed column, for packed_numbers.cpp. htmtrace-dtl(5), "Columns".
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/base/packed_layout.h"
#include "core/base/spread.h"

namespace htmtrace::packed {

inline void put_number(std::vector<std::byte>& to, uint64_t value, size_t bytes) {
  for (; bytes > 0; bytes--, value >>= 8) to.push_back(static_cast<std::byte>(value));
}

// The encoding of a column of numbers.
class NumbersForm {
 public:
  explicit NumbersForm(std::span<const uint64_t> values);
  // The encoding of a column in which each number N below counts.size() occurs counts[N] times, at
  // least once. The result equals NumbersForm(values), but needs no pass over the values.
  static NumbersForm of_counts(std::span<const uint32_t> counts);

  size_t size_bytes() const { return size_bytes_; }
  // Returns true if all numbers are equal, or if the column is empty.
  bool constant() const { return differences_ == 0; }
  // An upper bound of all numbers.
  uint64_t bound() const { return least_ | differences_; }

  // Appends `values`, which must be the numbers passed to the constructor.
  void write(std::span<const uint64_t> values, std::vector<std::byte>& to) const;

 private:
  using Widths = std::array<uint32_t, 65>;  // indexed by the bit width of a number

  NumbersForm() = default;
  void find_extent(std::span<const uint64_t> values);
  void find_shift();
  Widths widths_of(std::span<const uint64_t> values) const;
  void find_size(size_t count, const Widths& of_width);
  void find_bits(size_t count, const Widths& of_width);
  void write_bits(std::span<const uint64_t> values, std::vector<std::byte>& to) const;
  void write_rests(std::span<const uint64_t> values, std::vector<std::byte>& to) const;

  uint64_t least_ = 0;
  uint64_t differences_ = 0;  // bits that differ between the numbers
  unsigned which_shift_ = 0, shift_ = 0;
  unsigned bits_ = 0;
  size_t rests_ = 0;
  size_t least_bytes_ = 0, rest_bytes_ = 0;
  size_t size_bytes_ = 0;
};

// The distinct numbers, most frequent first, and the index of each number among them. find()
// returns false when the column has too many distinct numbers.
class Distinct {
 public:
  bool find(std::span<const uint64_t> values) {
    slots_.fill(kFree);
    which_.resize(values.size());
    for (size_t i = 0; i < values.size(); i++) {
      const uint64_t value = values[i];
      // A comparison with the preceding number would save the search only if it is predictable.
      size_t slot = spread(value) >> (64 - kSlotBits);
      while (slots_[slot] != kFree && values_[slots_[slot]] != value) slot = (slot + 1) % kSlots;
      if (slots_[slot] == kFree) [[unlikely]] {
        if (size_ == kMostDistinct) return false;
        slots_[slot] = static_cast<uint16_t>(size_);
        values_[size_] = value;
        counts_[size_++] = 0;
      }
      which_[i] = slots_[slot];
      counts_[slots_[slot]]++;
    }
    sort();
    return true;
  }

  std::span<const uint64_t> values() const { return std::span(values_).first(size_); }
  std::span<const uint64_t> which() const { return which_; }
  NumbersForm which_form() const {
    return size_ < 2 ? NumbersForm(which_)
                     : NumbersForm::of_counts(std::span(counts_).first(size_));
  }

 private:
  static constexpr unsigned kSlotBits = 12;
  static constexpr size_t kSlots = 1 << kSlotBits;
  static constexpr uint16_t kFree = UINT16_MAX;

  void sort() {
    // Each number holds a count and an index. The most frequent numbers come first; with equal
    // counts, the earliest. A column has at most UINT16_MAX numbers, so each count fits.
    static_assert(kMostDistinct <= UINT16_MAX);
    std::array<uint32_t, kMostDistinct> order;
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(size_);
    for (size_t i = 0; i < size_; i++) {
      order[i] = (UINT16_MAX - counts_[i]) << 16 | static_cast<uint32_t>(i);
    }
    std::sort(order.begin(), end);
    std::array<uint16_t, kMostDistinct> place;
    const auto values = values_;
    const auto counts = counts_;
    for (size_t i = 0; i < size_; i++) {
      const size_t from = order[i] & UINT16_MAX;
      values_[i] = values[from];
      counts_[i] = counts[from];
      place[from] = static_cast<uint16_t>(i);
    }
    for (uint64_t& which : which_) which = place[which];
  }

  std::array<uint16_t, kSlots> slots_;
  size_t size_ = 0;
  std::array<uint64_t, kMostDistinct> values_;
  std::array<uint32_t, kMostDistinct> counts_;
  std::vector<uint64_t> which_;
};

// The shorter of two forms: the numbers in order, or a list of the distinct numbers with indexes.
class WholeForm {
 public:
  // `values` must outlive this object.
  explicit WholeForm(std::span<const uint64_t> values)
      : values_(values), plain_(values), size_bytes_(kCountBytes + plain_.size_bytes()) {
    // A list with a single number is longer than the plain form.
    if (plain_.constant() || !distinct_.find(values)) return;
    list_.emplace(distinct_.values());
    which_.emplace(distinct_.which_form());
    const size_t size = kCountBytes + list_->size_bytes() + which_->size_bytes();
    is_list_ = size < size_bytes_;
    size_bytes_ = std::min(size, size_bytes_);
  }

  size_t size_bytes() const { return size_bytes_; }
  const NumbersForm& plain() const { return plain_; }
  bool is_list() const { return is_list_; }

  void write(std::vector<std::byte>& to) const {
    put_number(to, is_list_ ? distinct_.values().size() : 0, kCountBytes);
    if (!is_list_) return plain_.write(values_, to);
    list_->write(distinct_.values(), to);
    which_->write(distinct_.which(), to);
  }

 private:
  std::span<const uint64_t> values_;
  NumbersForm plain_;
  Distinct distinct_;
  std::optional<NumbersForm> list_, which_;
  bool is_list_ = false;
  size_t size_bytes_;
};

// The upper bits of all numbers, followed by the lower bits of all numbers.
class SplitForm {
 public:
  explicit SplitForm(std::span<const uint64_t> values)
      : lower_(parts(values, [](uint64_t v) { return v & kLowerMask; })), lower_form_(lower_) {}

  // The size without the upper bits, in bytes.
  size_t least_bytes() const { return kCountBytes + lower_form_.size_bytes(); }
  void add_upper(std::span<const uint64_t> values) {
    upper_ = parts(values, [](uint64_t v) { return v >> kLowerBits; });
    upper_form_.emplace(upper_);
  }
  size_t size_bytes() const { return least_bytes() + upper_form_->size_bytes(); }

  void write(std::vector<std::byte>& to) const {
    put_number(to, kSplit, kCountBytes);
    upper_form_->write(to);
    lower_form_.write(lower_, to);
  }

 private:
  template <class Part>
  static std::vector<uint64_t> parts(std::span<const uint64_t> values, Part part) {
    std::vector<uint64_t> result(values.size());
    std::ranges::transform(values, result.begin(), part);
    return result;
  }

  std::vector<uint64_t> lower_, upper_;
  NumbersForm lower_form_;
  std::optional<WholeForm> upper_form_;
};

// A flag for each number (1: it differs from the preceding number; 0 precedes the first number),
// followed by the whole form of the numbers with the flag 1.
class RunsForm {
 public:
  explicit RunsForm(std::span<const uint64_t> values) : differs_(values.size()) {
    uint64_t before = 0;
    for (size_t i = 0; i < values.size(); i++) {
      differs_[i] = values[i] != before ? 1 : 0;
      others_size_ += differs_[i];
      before = values[i];
    }
    if (others_size_ == 0 || others_size_ == values.size()) {
      differs_form_.emplace(differs_);
    } else {
      differs_form_ =
          NumbersForm::of_counts(std::array{static_cast<uint32_t>(values.size() - others_size_),
                                            static_cast<uint32_t>(others_size_)});
    }
  }

  // The size without the numbers, in bytes.
  size_t least_bytes() const { return kCountBytes + differs_form_->size_bytes(); }
  void add_others(std::span<const uint64_t> values) {
    // One more, because the loop writes each number, to avoid a branch on the data.
    others_.resize(others_size_ + 1);
    size_t size = 0;
    for (size_t i = 0; i < values.size(); i++) {
      others_[size] = values[i];
      size += differs_[i];
    }
    others_.resize(others_size_);
    others_form_.emplace(others_);
  }
  size_t size_bytes() const { return least_bytes() + others_form_->size_bytes(); }

  void write(std::vector<std::byte>& to) const {
    put_number(to, kRuns, kCountBytes);
    differs_form_->write(differs_, to);
    others_form_->write(to);
  }

 private:
  std::vector<uint64_t> differs_, others_;
  size_t others_size_ = 0;
  std::optional<NumbersForm> differs_form_;
  std::optional<WholeForm> others_form_;
};

}  // namespace htmtrace::packed
