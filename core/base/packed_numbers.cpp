// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/base/packed_numbers.h"

#include <optional>

#include "core/base/packed_forms.h"
#include "core/base/packed_layout.h"

namespace htmtrace {

using packed::Distinct;
using packed::NumbersForm;
using packed::put_number;
using packed::RunsForm;
using packed::SplitForm;
using packed::WholeForm;

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
      distinct.which_form().write(distinct.which(), to);
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
