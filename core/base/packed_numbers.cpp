// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/base/packed_numbers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "core/base/packed_layout.h"
#include "core/base/spread.h"

namespace htmtrace {
namespace {

void put_number(std::vector<std::byte>& to, uint64_t value, size_t bytes) {
  for (; bytes > 0; bytes--, value >>= 8) to.push_back(static_cast<std::byte>(value));
}

size_t bytes_of(uint64_t value) {
  return (static_cast<size_t>(std::bit_width(value)) + 7) / 8;
}

// The encoding of a column of numbers.
class NumbersForm {
 public:
  explicit NumbersForm(std::span<const uint64_t> values);

  size_t size_bytes() const { return size_bytes_; }
  // All numbers are equal, or the column is empty.
  bool constant() const { return differences_ == 0; }
  // An upper bound of all numbers.
  uint64_t bound() const { return least_ | differences_; }

  // Appends `values`, which must be the numbers passed to the constructor.
  void write(std::span<const uint64_t> values, std::vector<std::byte>& to) const;

 private:
  using Widths = std::array<size_t, 65>;  // indexed by the bit width of a number

  void find_shift();
  void find_bits(size_t count, const Widths& of_width);
  void write_bits(std::span<const uint64_t> values, std::vector<std::byte>& to) const;

  uint64_t least_ = 0;
  uint64_t differences_ = 0;  // bits that differ between the numbers
  unsigned which_shift_ = 0, shift_ = 0;
  unsigned bits_ = 0;
  size_t rests_ = 0;
  size_t least_bytes_ = 0, rest_bytes_ = 0;
  size_t size_bytes_ = 0;
};

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
  size_bytes_ = 2 + packed::kPositionBytes + least_bytes_ +
                packed::bytes_of_bits(values.size(), bits_) +
                rests_ * (packed::kPositionBytes + rest_bytes_);
}

// Finds the largest of kShifts that keeps every number exact.
void NumbersForm::find_shift() {
  if (constant()) return;
  which_shift_ = packed::kShifts.size() - 1;
  while (std::countr_zero(differences_) < static_cast<int>(packed::kShifts[which_shift_]))
    which_shift_--;
  shift_ = packed::kShifts[which_shift_];
}

// Finds the number of bits that makes the whole column smallest.
void NumbersForm::find_bits(size_t count, const Widths& of_width) {
  unsigned widest = 64;
  while (widest > 0 && of_width[widest] == 0) widest--;
  size_t larger = 0, best_cost = SIZE_MAX;
  for (unsigned bits = widest;; bits--) {
    const size_t rest_bytes = (widest - bits + 7) / 8;
    const size_t cost = count * bits + larger * 8 * (packed::kPositionBytes + rest_bytes);
    if (bits <= packed::kMostBits && cost < best_cost) {
      bits_ = bits;
      rests_ = larger;
      rest_bytes_ = larger == 0 ? 0 : rest_bytes;
      best_cost = cost;
    }
    if (bits == 0) return;
    larger += of_width[bits];
  }
}

// Writes the lower bits of each number without gaps. Each store writes eight bytes: at most 56 bits
// of a number and up to seven bits that the preceding number left.
void NumbersForm::write_bits(std::span<const uint64_t> values, std::vector<std::byte>& to) const {
  if (bits_ == 0) return;
  const uint64_t mask = (uint64_t{1} << bits_) - 1;
  const size_t begin = to.size(), end = begin + packed::bytes_of_bits(values.size(), bits_);
  to.resize(end + sizeof(uint64_t));
  std::byte* out = to.data() + begin;
  const unsigned bits = bits_, shift = shift_;
  const uint64_t least = least_;
  uint64_t held = 0;
  unsigned held_bits = 0;
  for (const uint64_t value : values) {
    held |= ((value - least) >> shift & mask) << held_bits;
    held_bits += bits;
    packed::store_le64(out, held);
    out += held_bits / 8;
    held >>= held_bits & ~7U;
    held_bits %= 8;
  }
  packed::store_le64(out, held);
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
  put_number(to, which_shift_ << packed::kShiftPlace | bits_, 1);
  put_number(to, least_bytes_ << 4 | rest_bytes_, 1);
  put_number(to, rests_, packed::kPositionBytes);
  put_number(to, least_, least_bytes_);
  write_bits(values, to);
  if (rests_ == 0) return;
  std::vector<uint64_t> rests;
  rests.reserve(rests_);
  for (size_t i = 0; i < values.size(); i++) {
    const uint64_t rest = (values[i] - least_) >> shift_ >> bits_;
    if (rest == 0) continue;
    put_number(to, i, packed::kPositionBytes);
    rests.push_back(rest);
  }
  for (const uint64_t rest : rests) put_number(to, rest, rest_bytes_);
}

// The distinct numbers, most frequent first, and the index of each number among them. find()
// returns false when the column has too many distinct numbers.
class Distinct {
 public:
  bool find(std::span<const uint64_t> values) {
    slots_.fill(kFree);
    which_.reserve(values.size());
    for (const uint64_t value : values) {
      // A number often repeats.
      if (!which_.empty() && values_[which_.back()] == value) {
        counts_[which_.back()]++;
        which_.push_back(which_.back());
        continue;
      }
      size_t slot = spread(value) >> (64 - kSlotBits);
      while (slots_[slot] != kFree && values_[slots_[slot]] != value) slot = (slot + 1) % kSlots;
      if (slots_[slot] == kFree) {
        if (values_.size() == packed::kMostDistinct) return false;
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

// The shorter of two forms: the numbers in order, or a list of the distinct numbers with indexes.
class WholeForm {
 public:
  // `values` must outlive this object.
  explicit WholeForm(std::span<const uint64_t> values)
      : values_(values), plain_(values), size_bytes_(packed::kCountBytes + plain_.size_bytes()) {
    // A list with a single number is longer than the plain form.
    if (plain_.constant() || !distinct_.find(values)) return;
    list_.emplace(distinct_.values());
    which_.emplace(distinct_.which());
    const size_t size = packed::kCountBytes + list_->size_bytes() + which_->size_bytes();
    is_list_ = size < size_bytes_;
    size_bytes_ = std::min(size, size_bytes_);
  }

  size_t size_bytes() const { return size_bytes_; }
  const NumbersForm& plain() const { return plain_; }
  bool is_list() const { return is_list_; }

  void write(std::vector<std::byte>& to) const {
    put_number(to, is_list_ ? distinct_.values().size() : 0, packed::kCountBytes);
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
      : lower_(parts(values, [](uint64_t v) { return v & packed::kLowerMask; })),
        lower_form_(lower_) {}

  // The size without the upper bits, in bytes.
  size_t least_bytes() const { return packed::kCountBytes + lower_form_.size_bytes(); }
  void add_upper(std::span<const uint64_t> values) {
    upper_ = parts(values, [](uint64_t v) { return v >> packed::kLowerBits; });
    upper_form_.emplace(upper_);
  }
  size_t size_bytes() const { return least_bytes() + upper_form_->size_bytes(); }

  void write(std::vector<std::byte>& to) const {
    put_number(to, packed::kSplit, packed::kCountBytes);
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
      before = values[i];
    }
    differs_form_.emplace(differs_);
  }

  // The size without the numbers, in bytes.
  size_t least_bytes() const { return packed::kCountBytes + differs_form_->size_bytes(); }
  void add_others(std::span<const uint64_t> values) {
    for (size_t i = 0; i < values.size(); i++) {
      if (differs_[i] != 0) others_.push_back(values[i]);
    }
    others_form_.emplace(others_);
  }
  size_t size_bytes() const { return least_bytes() + others_form_->size_bytes(); }

  void write(std::vector<std::byte>& to) const {
    put_number(to, packed::kRuns, packed::kCountBytes);
    differs_form_->write(differs_, to);
    others_form_->write(to);
  }

 private:
  std::vector<uint64_t> differs_, others_;
  std::optional<NumbersForm> differs_form_;
  std::optional<WholeForm> others_form_;
};

}  // namespace

void pack_numbers(std::span<const uint64_t> values, std::vector<std::byte>& to) {
  NumbersForm(values).write(values, to);
}

namespace {

enum class RepeatedForm : uint8_t { kPlain, kList, kSplit, kRuns };

// Trying all forms of a shorter column takes little time.
constexpr size_t kLeastForHint = 64;
constexpr uint8_t kHintUses = 15;

// A column of whole form begins with the number of distinct numbers (2 bytes) or 0. Other forms
// begin with kSplit or kRuns. The function abandons a form as soon as another form is certainly
// shorter.
RepeatedForm pack_shortest(std::span<const uint64_t> values, std::vector<std::byte>& to) {
  const WholeForm whole(values);
  const RepeatedForm whole_form = whole.is_list() ? RepeatedForm::kList : RepeatedForm::kPlain;
  if (whole.plain().constant()) {
    whole.write(to);
    return whole_form;
  }
  size_t least = whole.size_bytes();
  std::optional<SplitForm> split;
  // Without upper bits, the split form is longer.
  if (whole.plain().bound() > packed::kLowerMask) split.emplace(values);
  if (split && split->least_bytes() < least) {
    split->add_upper(values);
    if (split->size_bytes() >= least) split.reset();
  } else {
    split.reset();
  }
  if (split) least = split->size_bytes();
  RunsForm runs(values);
  if (runs.least_bytes() < least) {
    runs.add_others(values);
    if (runs.size_bytes() < least) {
      runs.write(to);
      return RepeatedForm::kRuns;
    }
  }
  if (split) {
    split->write(to);
    return RepeatedForm::kSplit;
  }
  whole.write(to);
  return whole_form;
}

// Returns false if the numbers do not have this form.
bool pack_as(RepeatedForm form, std::span<const uint64_t> values, std::vector<std::byte>& to) {
  switch (form) {
    case RepeatedForm::kPlain:
      put_number(to, 0, packed::kCountBytes);
      pack_numbers(values, to);
      return true;
    case RepeatedForm::kList: {
      Distinct distinct;
      if (!distinct.find(values)) return false;
      put_number(to, distinct.values().size(), packed::kCountBytes);
      pack_numbers(distinct.values(), to);
      pack_numbers(distinct.which(), to);
      return true;
    }
    case RepeatedForm::kSplit: {
      SplitForm split(values);
      split.add_upper(values);
      split.write(to);
      return true;
    }
    case RepeatedForm::kRuns: {
      RunsForm runs(values);
      runs.add_others(values);
      runs.write(to);
      return true;
    }
  }
  return false;
}

uint32_t bytes_per_1024(size_t bytes, size_t values) {
  return static_cast<uint32_t>(bytes * 1024 / values);
}

}  // namespace

void pack_repeated(std::span<const uint64_t> values, std::vector<std::byte>& to,
                   RepeatedHint* hint) {
  if (hint == nullptr || values.size() < kLeastForHint) {
    pack_shortest(values, to);
    return;
  }
  const size_t begin = to.size();
  if (hint->uses != 0 && pack_as(static_cast<RepeatedForm>(hint->form), values, to)) {
    const uint32_t size = bytes_per_1024(to.size() - begin, values.size());
    // The headers of a shorter column take a larger part of it.
    constexpr uint32_t kHeaders = 64;
    if (size <= hint->bytes_per_1024 + hint->bytes_per_1024 / 8 + kHeaders) {
      hint->uses--;
      return;
    }
  }
  to.resize(begin);
  hint->form = static_cast<uint8_t>(pack_shortest(values, to));
  hint->uses = kHintUses;
  hint->bytes_per_1024 = bytes_per_1024(to.size() - begin, values.size());
}

void pack_word(uint64_t value, std::vector<std::byte>& to) {
  put_number(to, value, sizeof(value));
}

}  // namespace htmtrace
