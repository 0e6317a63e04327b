// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/analysis/timeline.h"

#include <algorithm>

namespace htmtrace {
namespace {

void add(Timeline::Window& to, const Timeline::Window& window) {
  to.ticks += window.ticks;
  to.reported += window.reported;
  for (size_t i = 0; i < kPrivileges; i++) to.by_privilege.at(i) += window.by_privilege.at(i);
  to.data_accesses += window.data_accesses;
  to.losses += window.losses;
}

// The part of `ticks`, spread evenly over `whole` instructions, that the first `part` instructions
// get. Rounds down.
uint64_t share(uint64_t ticks, uint64_t part, uint64_t whole) {
  __extension__ typedef unsigned __int128 Wide;
  return static_cast<uint64_t>(Wide{ticks} * part / whole);
}

}  // namespace

Timeline::Window& Timeline::window_here() {
  if (windows_.empty()) first_ = number_;
  size_t place = (number_ - first_) >> shift_;
  while (place >= most_windows_) {
    join_windows();
    place = (number_ - first_) >> shift_;
  }
  if (place >= windows_.size()) windows_.resize(place + 1);
  return windows_[place];
}

void Timeline::join_windows() {
  for (size_t i = 0; i < windows_.size(); i++) {
    if (i % 2 != 0) {
      add(windows_[i / 2], windows_[i]);
    } else if (i != 0) {
      windows_[i / 2] = windows_[i];
    }
  }
  windows_.resize((windows_.size() + 1) / 2);
  shift_++;
}

// Distributes the ticks of the latest stamps over the instructions since the preceding stamps. All
// instructions get the same share, because the trace has no finer times.
void Timeline::elapsed(const TracePlace& place) {
  const uint64_t ticks = place.ticks - ticks_;
  const uint64_t whole = place.instructions - since_;
  if (!windows_.empty() && whole != 0) {
    number_ = place.instructions - 1;
    window_here();  // creates the windows
    uint64_t at = std::max(since_, first_);
    uint64_t given = share(ticks, at - since_, whole);
    while (at < place.instructions) {
      const size_t window = (at - first_) >> shift_;
      at = std::min(place.instructions, first_ + ((window + 1) << shift_));
      const uint64_t until = share(ticks, at - since_, whole);
      windows_[window].ticks += until - given;
      given = until;
    }
  }
  ticks_ = place.ticks;
  since_ = place.instructions;
}

// Counts selected instructions with consecutive numbers.
void Timeline::count_run(uint64_t number, std::span<const TimelinePart::Seen> run) {
  while (!run.empty()) {
    number_ = number;
    Window& window = window_here();
    const uint64_t left = window_instructions() - ((number - first_) & (window_instructions() - 1));
    const size_t here = static_cast<size_t>(std::min<uint64_t>(left, run.size()));
    for (const TimelinePart::Seen seen : run.first(here)) count(window, seen);
    run = run.subspan(here);
    number += here;
  }
  number_ = number - 1;
}

void Timeline::take(TimelinePart& part, const TracePlace& base) {
  using Kind = TimelinePart::Event::Kind;
  part.finish();
  std::span<const TimelinePart::Seen> seen = part.seen();
  for (const TimelinePart::Event& event : part.events()) {
    const TracePlace place = sum(base, event.place);
    switch (event.kind) {
      case Kind::kPlace:
        at(place);
        break;
      case Kind::kInstructions:
        count_run(place.instructions, seen.first(event.count));
        seen = seen.subspan(event.count);
        break;
      case Kind::kLoss:
        number_ = place.instructions;
        count_loss();
        break;
      case Kind::kEarlyLoss:
        // After the last instruction of the preceding part, selected or not.
        if (end_ && end_->instructions != 0) number_ = end_->instructions - 1;
        count_loss();
        break;
    }
  }
  end_ = sum(base, part.end());
  part.clear();
}

uint64_t Timeline::instructions_of(size_t window) const {
  if (window + 1 < windows_.size()) return window_instructions();
  return number_ - first_ - (window << shift_);
}

uint64_t Timeline::ticks() const {
  uint64_t sum = 0;
  for (const Window& window : windows_) sum += window.ticks;
  return sum;
}

}  // namespace htmtrace
