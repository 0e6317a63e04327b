// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/replay/player.h"

#include <algorithm>

#include "core/base/error.h"

namespace htmtrace {
namespace {

// Positions between two checks for an interrupt from gdb, without watchpoints. Each watchpoint
// makes a position slower.
constexpr uint64_t kPositionsPerPoll = 1 << 16;

}  // namespace

Player::Player(const ChosenTrace& trace, std::endian order) : track_(trace, order) {
  const auto first = next_position(0);
  has_position_ = first.has_value();
  first_ = number_ = first.value_or(0);
}

// The first position from `number` on.
std::optional<uint64_t> Player::next_position(uint64_t number) {
  for (; const Track::Element* const element = track_.at(number); number++) {
    if (element->instruction.has_ea) [[likely]]
      return number;
  }
  return std::nullopt;
}

// The last position that precedes `number`.
std::optional<uint64_t> Player::previous_position(uint64_t number) {
  while (number > first_) {
    if (track_.at(--number)->instruction.has_ea) [[likely]]
      return number;
  }
  return std::nullopt;
}

std::optional<StopPoints::Hit> Player::watchpoint_between(uint64_t first, uint64_t end,
                                                          const StopPoints& points) {
  for (uint64_t number = first; number < end; number++) {
    if (const auto hit = points.watchpoint_of(track_.at(number)->instruction)) return hit;
  }
  return std::nullopt;
}

Player::Stop Player::move(const Motion& motion, const StopPoints& points,
                          const std::function<bool()>& interrupted) {
  const uint64_t positions_per_poll = kPositionsPerPoll / (1 + points.watchpoints());
  for (uint64_t moved = 1;; moved++) {
    const auto next = motion.backward ? previous_position(number_) : next_position(number_ + 1);
    if (!next) return {.reason = motion.backward ? Reason::kBegin : Reason::kEnd, .hit = {}};
    const auto [first, end] = std::minmax(number_, *next);
    if (const auto hit = watchpoint_between(first, end, points)) {
      return {.reason = Reason::kWatchpoint, .hit = *hit};
    }
    number_ = *next;
    const uint64_t ea = track_.at(number_)->instruction.ea.value;
    if (const auto type = points.breakpoint_at(ea)) {
      return {.reason = Reason::kBreakpoint, .hit = {.type = *type, .address = ea}};
    }
    if (motion.single) return {};
    if (moved % positions_per_poll == 0 && interrupted()) {
      return {.reason = Reason::kInterrupted, .hit = {}};
    }
  }
}

bool Player::go_to(uint64_t number) {
  const auto found = next_position(number < first_ ? first_ : number);
  if (found) number_ = *found;
  return found.has_value();
}

bool Player::go_to_mark(unsigned value) {
  for (uint64_t number = 0; track_.at(number) != nullptr; number += Track::kWindow) {
    for (const Track::SeenMark& mark : track_.marks_near(number)) {
      if (mark.value == value) return go_to(mark.number);
    }
  }
  return false;
}

Registers Player::registers() {
  const Track::Element here = *track_.at(number_);
  const Track::Element* const before =
      number_ == 0 || here.after_gap ? nullptr : track_.at(number_ - 1);
  return proven_registers(here.instruction, before == nullptr ? nullptr : &before->instruction);
}

std::optional<uint8_t> Player::code_at(uint64_t address) {
  if (const auto own = track_.code().byte_of(track_.at(number_)->instruction, address)) return own;
  return track_.code().byte_at(address);
}

}  // namespace htmtrace
