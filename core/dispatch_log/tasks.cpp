// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/dispatch_log/tasks.h"

#include <algorithm>

namespace htmtrace {

void DtlTaskTrack::add(uint64_t ns, DtlTask task) {
  if (known_.back().task == task) return;
  if (known_.size() >= kMostSwitches) drop(known_.size() / 2);
  known_.push_back({ns, task});
}

void DtlTaskTrack::switched(uint64_t ns, DtlTask from, DtlTask to) {
  ns = std::max(ns, until_ns_);
  if (lossless_) observed(from);
  lossless_ = true;
  until_ns_ = ns;
  add(ns, to);
}

// No switch is missing, so the task has been current since the start of the unknown interval.
void DtlTaskTrack::observed(DtlTask task) {
  if (lossless_ && !known_.back().task.known()) known_.back().task = task;
}

void DtlTaskTrack::lost() {
  until_ns_++;
  add(until_ns_, {});
  lossless_ = false;
}

void DtlTaskTrack::cover(uint64_t ns) {
  until_ns_ = std::max(until_ns_, ns);
}

void DtlTaskTrack::append(const DtlSwitches& part) {
  if (part.switches.empty()) return;
  if (part.switches.front().ns > until_ns_ + 1) lost();
  for (const DtlSwitch& each : part.switches) add(std::max(each.ns, known_.back().ns), each.task);
  cover(part.until_ns);
}

DtlTask DtlTaskTrack::at(uint64_t ns) {
  if (ns > until_ns_ || ns < known_.front().ns) return {};
  if (ns < known_[place_].ns) place_ = 0;
  while (place_ + 1 < known_.size() && known_[place_ + 1].ns <= ns) place_++;
  return known_[place_].task;
}

void DtlTaskTrack::forget(uint64_t ns) {
  const auto after = std::ranges::upper_bound(known_, ns, {}, &DtlSwitch::ns);
  const auto before = static_cast<size_t>(after - known_.begin());
  if (before > 1) drop(before - 1);
}

void DtlTaskTrack::release() {
  forget(UINT64_MAX);
  known_.shrink_to_fit();
}

void DtlTaskTrack::drop(size_t count) {
  known_.erase(known_.begin(), known_.begin() + static_cast<ptrdiff_t>(count));
  place_ -= std::min(place_, count);
  taken_ -= std::min(taken_, count);
}

std::optional<DtlSwitches> DtlTaskTrack::take_new() {
  if (until_ns_ == taken_until_ns_) return std::nullopt;
  DtlSwitches part{.switches = {}, .until_ns = until_ns_};
  if (taken_ != 0) part.switches.push_back({taken_until_ns_, known_[taken_ - 1].task});
  part.switches.insert(part.switches.end(), known_.begin() + static_cast<ptrdiff_t>(taken_),
                       known_.end());
  taken_ = known_.size();
  taken_until_ns_ = until_ns_;
  return part;
}

}  // namespace htmtrace
