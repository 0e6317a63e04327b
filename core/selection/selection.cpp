// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/selection/selection.h"

#include <algorithm>

namespace htmtrace {
namespace {

bool in(const Selection::Ranges& ranges, bool known, uint64_t address) {
  if (ranges.empty()) return true;
  return known && std::any_of(ranges.begin(), ranges.end(),
                              [&](const AddressRange& range) { return range.holds(address); });
}

// One access must satisfy all data conditions.
bool data_matches(const Selection& selection, const DataAccess& data) {
  return in(selection.data_ea, true, data.ea.value) &&
         in(selection.data_ra, data.has_ra, data.ra.value) &&
         in(selection.data_la, data.has_la, data.la.value);
}

bool wants_data(const Selection& selection) {
  return selection.data_by_name || !selection.data_ea.empty() || !selection.data_ra.empty() ||
         !selection.data_la.empty();
}

template <class Value>
bool in_set(uint32_t set, Value value) {
  return set == 0 || (set >> static_cast<unsigned>(value) & 1) != 0;
}

}  // namespace

bool Selection::everything() const {
  return ea.empty() && ra.empty() && la.empty() && !by_name && !by_process && !wants_data(*this) &&
         privileges == 0 && classes == 0 && !has_places() && has_parts();
}

bool Selection::has_places() const {
  return numbers.first != 0 || numbers.last != kAny || ticks.first != 0 || ticks.last != kAny ||
         from_mark || to_mark || first != kAny;
}

Selector::Selector(const Selection& selection)
    : selection_(selection),
      everything_(selection.everything()),
      numbers_(selection.numbers),
      first_(selection.first),
      between_marks_(!selection.from_mark),
      open_(between_marks_ && selection.ticks.holds(0)) {}

void Selector::begin_at(const TracePlace& place) {
  number_ = place.instructions;
  ticks_ = place.ticks;
  open_ = between_marks_ && selection_.ticks.holds(ticks_);
}

void Selector::start_inside(bool open) {
  inside_ = true;
  numbers_ = {0, Selection::kAny};
  first_ = Selection::kAny;
  number_ = 0;
  ticks_ = 0;
  open_ = open;
}

bool Selector::can_follow(const Selector& earlier) const {
  const AddressRange& numbers = selection_.numbers;
  const AddressRange& ticks = selection_.ticks;
  const uint64_t end = earlier.number_ + number_;
  const uint64_t end_ticks = earlier.ticks_ + ticks_;
  if (edge_inside_ || end_ticks < earlier.ticks_ || end_ticks > ticks.last || end > numbers.last) {
    return false;
  }
  if (open_) {
    // take() does not select a stamp at the first number.
    const bool numbered = numbers.first == 0 || earlier.number_ > numbers.first;
    return numbered && earlier.between_marks_ && ticks.holds(earlier.ticks_) &&
           earlier.taken_ + taken_ < selection_.first;
  }
  const bool before_numbers = numbers.first != 0 && end <= numbers.first;
  return before_numbers || end_ticks < ticks.first || !earlier.between_marks_;
}

void Selector::follow(const Selector& earlier) {
  inside_ = false;
  numbers_ = selection_.numbers;
  first_ = selection_.first;
  number_ += earlier.number_;
  ticks_ += earlier.ticks_;
  taken_ += earlier.taken_;
  between_marks_ = earlier.between_marks_;
  open_ = between_marks_ && selection_.ticks.holds(ticks_);
}

bool Selector::matches(const Instruction& instruction, NameMatch names) const {
  const Selection& s = selection_;
  if ((s.by_name && !names.code) || (s.by_process && !names.process) ||
      !in(s.ea, instruction.has_ea, instruction.ea.value) ||
      !in(s.ra, instruction.has_ra, instruction.ra.value) ||
      !in(s.la, instruction.has_la, instruction.la.value)) {
    return false;
  }
  if (s.privileges != 0) {
    const Privilege privilege = privilege_of(instruction.modes);
    if (privilege == Privilege::kUnknown || !in_set(s.privileges, privilege)) return false;
  }
  if (s.classes != 0 && !in_set(s.classes, class_of(instruction))) return false;
  if (!wants_data(s)) return true;
  for (unsigned i = 0; i < instruction.data_count; i++) {
    const bool named = !s.data_by_name || (names.data >> i & 1) != 0;
    if (named && data_matches(s, instruction.data.at(i))) return true;
  }
  return false;
}

bool Selector::take(const Stamp& stamp) {
  ticks_ += stamp.elapsed;
  if (inside_) {
    edge_inside_ |= is_edge(stamp);
    return open_;
  }
  const bool was_open = open_;
  if (stamp.kind == StampKind::kMark && !marks_over_) {
    if (!between_marks_) {
      between_marks_ = selection_.from_mark == stamp.mark.value;
    } else if (selection_.to_mark == stamp.mark.value) {
      between_marks_ = false;
      marks_over_ = true;
    }
  }
  open_ = between_marks_ && selection_.ticks.holds(ticks_);
  window_over_ = marks_over_ || ticks_ > selection_.ticks.last;
  const AddressRange& numbers = selection_.numbers;
  const bool between_numbers =
      (numbers.first == 0 || number_ > numbers.first) && number_ <= numbers.last;
  return between_numbers && (was_open || open_) && taken_ < first_;
}

}  // namespace htmtrace
