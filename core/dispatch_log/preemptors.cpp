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

void DtlPreemptors::add(int cpu, std::span<const DtlEntry> entries) {
  if (entries.empty()) return;
  uint64_t& last = last_[cpu];
  for (const DtlEntry& entry : entries) {
    // Damage could let a wait begin before the preceding dispatch.
    const uint64_t stolen = uint64_t{entry.enqueue_to_dispatch} + entry.ready_to_enqueue;
    const uint64_t ticks = std::min(stolen, entry.timebase - std::min(entry.timebase, last));
    last = entry.timebase;
    if (ticks != 0) {
      divide({.dispatched = entry.timebase,
              .ticks = ticks,
              .cpu = cpu,
              .processor = entry.processor_id,
              .owner = {}});
    }
  }
}

void DtlPreemptors::divide(Wait wait) {
  uint64_t known = 0;
  const DtlWindow window{wait.dispatched - wait.ticks, wait.dispatched};
  runs_.visit(wait.processor, window, [&](uint16_t owner, uint64_t ticks) {
    if (!work_.spend(1)) {
      throw Error("the waits overlap more dispatches than real recordings of this size have")
          .hint("choose a part of the time with --from and --to, or some CPUs with --cpu");
    }
    if (ticks != 0 && of_wait_[owner] == 0) met_.push_back(owner);
    of_wait_[owner] += ticks;
    known += ticks;
  });
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
  unknown_.add(wait.ticks - known);
  all_.add(wait.ticks);
  keep(wait);
}

void DtlPreemptors::keep(const Wait& wait) {
  if (longest_.size() == top_) {
    if (top_ == 0 || !is_longer(wait, longest_.front())) return;
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
