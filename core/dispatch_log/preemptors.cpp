// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/dispatch_log/preemptors.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/base/error.h"

namespace htmtrace {
namespace {

// Longer waits first, then earlier ones.
bool is_longer(const DtlPreemptors::Wait& a, const DtlPreemptors::Wait& b) {
  return std::tuple(b.ticks, a.dispatched, a.cpu) < std::tuple(a.ticks, b.dispatched, b.cpu);
}

}  // namespace

void DtlPreemptors::Part::add(uint64_t of_wait) {
  if (of_wait == 0) return;
  waits++;
  ticks += of_wait;
  longest = std::max(longest, of_wait);
}

void DtlPreemptors::add(int cpu, const DtlEntry& entry, std::optional<unsigned> hour) {
  uint64_t& last = last_[cpu];
  // Damage could let a wait begin before the preceding dispatch.
  const uint64_t stolen = uint64_t{entry.enqueue_to_dispatch} + entry.ready_to_enqueue;
  const uint64_t ticks = std::min(stolen, entry.timebase - std::min(entry.timebase, last));
  last = entry.timebase;
  DtlUnknownTime::Part part{.late = ticks > options_.window_ticks, .hour = hour};
  if (ticks != 0) {
    const uint64_t queued = std::min<uint64_t>(entry.enqueue_to_dispatch, ticks);
    const uint64_t enqueued = entry.timebase - queued;
    part.not_queued = visit(entry.processor_id, {entry.timebase - ticks, enqueued});
    part.queued = visit(entry.processor_id, {enqueued, entry.timebase});
    finish({.dispatched = entry.timebase,
            .ticks = ticks,
            .cpu = cpu,
            .processor = entry.processor_id,
            .owner = {}},
           part.not_queued + part.queued);
  }
  unknown_time_.add(cpu, entry, part);
}

// Collects the ticks of the owners that ran on the processor during the window. Returns the ticks
// during which no recorded owner ran.
uint64_t DtlPreemptors::visit(uint16_t processor, const DtlWindow& window) {
  uint64_t unknown = window.end - window.begin;
  if (unknown == 0) return 0;
  runs_.visit(processor, window, [&](uint16_t owner, uint64_t ticks) {
    if (!work_.spend(1)) {
      throw Error("the waits overlap more dispatches than real recordings of this size have")
          .hint("choose a part of the time with --from and --to, or some CPUs with --cpu");
    }
    if (ticks != 0 && of_wait_[owner] == 0) met_.push_back(owner);
    of_wait_[owner] += ticks;
    unknown -= ticks;
  });
  return unknown;
}

void DtlPreemptors::finish(Wait wait, uint64_t unknown) {
  for (const uint16_t number : met_) {
    const uint64_t ticks = std::exchange(of_wait_[number], 0);
    const DtlOwner& owner = runs_.owners()[number];
    owners_[number].add(ticks);
    partitions_of_wait_[owner.partition] += ticks;
    if (ticks > wait.owner_ticks) {
      wait.owner = owner;
      wait.owner_ticks = ticks;
    }
  }
  met_.clear();
  for (const auto& [partition, ticks] : partitions_of_wait_) partitions_[partition].add(ticks);
  partitions_of_wait_.clear();
  unknown_.add(unknown);
  all_.add(wait.ticks);
  keep(wait);
}

void DtlPreemptors::keep(const Wait& wait) {
  if (longest_.size() == options_.top) {
    if (options_.top == 0 || !is_longer(wait, longest_.front())) return;
    std::ranges::pop_heap(longest_, is_longer);
    longest_.pop_back();
  }
  longest_.push_back(wait);
  std::ranges::push_heap(longest_, is_longer);
}

std::vector<DtlPreemptors::OwnerPart> DtlPreemptors::owners_of(size_t partition) const {
  std::vector<OwnerPart> parts;
  for (size_t number = 0; number < owners_.size(); number++) {
    const DtlOwner& owner = runs_.owners()[number];
    if (owner.partition == partition && owners_[number].waits != 0) {
      parts.emplace_back(owner, owners_[number]);
    }
  }
  std::ranges::sort(parts, [](const OwnerPart& a, const OwnerPart& b) {
    return std::tuple(b.second.ticks, a.first) < std::tuple(a.second.ticks, b.first);
  });
  return parts;
}

std::vector<DtlPreemptors::Wait> DtlPreemptors::longest() const {
  std::vector<Wait> sorted = longest_;
  std::ranges::sort(sorted, is_longer);
  return sorted;
}

}  // namespace htmtrace
