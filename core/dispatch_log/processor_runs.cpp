// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/dispatch_log/processor_runs.h"

#include <tuple>

#include "core/base/error.h"

namespace htmtrace {

void ProcessorRuns::add(const DtlOwner& owner, std::span<const DtlEntry> entries) {
  if (entries.empty()) return;
  const uint16_t number = number_of(owner);
  auto [last, is_first] = last_.try_emplace(number);
  uint64_t& last_time = last_time_[owner.partition];
  for (const DtlEntry& entry : entries) {
    if (!is_first) {
      const uint64_t waited =
          uint64_t{entry.enqueue_to_dispatch} + entry.ready_to_enqueue + entry.waiting_to_ready;
      put(number, last->second, entry.timebase - std::min(entry.timebase, waited));
    }
    is_first = false;
    last->second = {entry.timebase, entry.processor_id};
    last_time = std::max(last_time, entry.timebase);
  }
}

void ProcessorRuns::end_partition(size_t partition) {
  for (auto at = last_.begin(); at != last_.end();) {
    const auto& [number, dispatch] = *at;
    if (owners_[number].partition != partition) {
      ++at;
      continue;
    }
    put(number, dispatch, last_time_.at(partition));
    at = last_.erase(at);
  }
}

void ProcessorRuns::finish() {
  for (const auto& [number, dispatch] : last_) {
    put(number, dispatch, last_time_.at(owners_[number].partition));
  }
  // The owner orders dispatches at the same time, which makes their order unique.
  std::ranges::sort(runs_, {},
                    [](const Run& run) { return std::tuple(run.processor, run.begin, run.owner); });
}

uint16_t ProcessorRuns::number_of(const DtlOwner& owner) {
  const auto [found, added] = numbers_.try_emplace(owner, static_cast<uint16_t>(owners_.size()));
  if (!added) return found->second;
  if (owners_.size() > UINT16_MAX) {
    throw Error("the recordings have more than 65536 virtual processors")
        .hint("merge fewer recordings");
  }
  budget_.take(grown_bytes<DtlOwner>() + sizeof(*numbers_.begin()));
  owners_.push_back(owner);
  return found->second;
}

void ProcessorRuns::put(uint16_t owner, const Dispatch& from, uint64_t stopped) {
  stopped = std::max(stopped, from.timebase);
  if (stopped <= window_.begin || from.timebase >= window_.end) return;
  budget_.take(sizeof(Run));
  runs_.push_back(
      {.begin = from.timebase, .end = stopped, .owner = owner, .processor = from.processor});
}

// Returns the first run that may extend beyond `begin`. Each run ends before the next run begins.
size_t ProcessorRuns::first(uint16_t processor, uint64_t begin) const {
  const auto found =
      std::ranges::lower_bound(runs_, std::tuple(processor, begin), {},
                               [](const Run& run) { return std::tuple(run.processor, run.begin); });
  const auto at = static_cast<size_t>(found - runs_.begin());
  return at != 0 && runs_[at - 1].processor == processor ? at - 1 : at;
}

uint64_t ProcessorRuns::end_of(size_t at) const {
  const Run& run = runs_[at];
  const bool followed = at + 1 < runs_.size() && runs_[at + 1].processor == run.processor;
  return followed ? std::min(run.end, runs_[at + 1].begin) : run.end;
}

}  // namespace htmtrace
