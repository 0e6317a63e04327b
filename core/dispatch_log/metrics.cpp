// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/dispatch_log/metrics.h"

#include <algorithm>

namespace htmtrace {
namespace {

constexpr uint64_t kNsPerSecond = 1'000'000'000;

void count_wait(DtlWaitCounts& counts, uint32_t ticks, std::span<const uint64_t> bounds) {
  size_t bucket = 0;
  for (const uint64_t bound : bounds) bucket += ticks > bound ? 1 : 0;
  counts.buckets[bucket]++;
  counts.ticks += ticks;
}

}  // namespace

DtlReasonNames::DtlReasonNames(std::string_view (*name_of)(uint8_t)) {
  size_t used = 0;
  names_.back() = "other";
  for (size_t code = 0; code < numbers_.size(); code++) {
    const std::string_view name = name_of(static_cast<uint8_t>(code));
    size_t number = names_.size() - 1;
    if (!name.empty()) {
      const auto same = std::find(names_.begin(), names_.begin() + used, name);
      number = static_cast<size_t>(same - names_.begin());
      if (number == used && used + 1 < names_.size()) names_[used++] = name;
    }
    numbers_[code] = static_cast<uint8_t>(number);
  }
}

const DtlReasonNames& DtlReasonNames::of_dispatch() {
  static const DtlReasonNames names(dispatch_reason_name);
  return names;
}

const DtlReasonNames& DtlReasonNames::of_preempt() {
  static const DtlReasonNames names(preempt_reason_name);
  return names;
}

DtlCpuMetrics::DtlCpuMetrics(std::optional<ProcessorBits> bits) : bits_(bits) {
  processors_.reserve();
}

// A machine has one frequency. If a damaged recording has several, the last frequency applies.
void DtlCpuMetrics::set_clock(uint64_t ticks_per_second) {
  __extension__ typedef unsigned __int128 Wide;
  counts_.ticks_per_second = ticks_per_second;
  for (size_t i = 0; i < bounds_.size(); i++) {
    const Wide ticks = static_cast<Wide>(kDtlBucketBoundsNs[i]) * ticks_per_second / kNsPerSecond;
    bounds_[i] = static_cast<uint64_t>(std::min<Wide>(ticks, UINT64_MAX));
  }
}

void DtlCpuMetrics::add(std::span<const DtlEntry> entries, uint64_t ticks_per_second) {
  const DtlReasonNames& dispatch = DtlReasonNames::of_dispatch();
  const DtlReasonNames& preempt = DtlReasonNames::of_preempt();
  const bool timed = ticks_per_second != 0;
  if (timed && ticks_per_second != counts_.ticks_per_second) set_clock(ticks_per_second);
  for (const DtlEntry& entry : entries) {
    counts_.dispatches[dispatch.number(entry.dispatch_reason)]++;
    if (timed) add_waits(entry, counts_.waits[preempt.number(entry.preempt_reason)]);
    place(entry.processor_id);
  }
  if (!timed) counts_.untimed += entries.size();
}

void DtlCpuMetrics::add_waits(const DtlEntry& entry, DtlCpuCounts::Waits& waits) const {
  count_wait(waits.enqueue_to_dispatch, entry.enqueue_to_dispatch, bounds_);
  count_wait(waits.ready_to_enqueue, entry.ready_to_enqueue, bounds_);
  count_wait(waits.waiting_to_ready, entry.waiting_to_ready, bounds_);
}

void DtlCpuMetrics::place(uint16_t processor) {
  if (previous_ && *previous_ != processor) counts_.moved++;
  previous_ = processor;
  const uint64_t here = ++processors_.at(processor).count;
  if (home_ == processor) {
    // The table may have dropped the home, if all counts were equal.
    home_dispatches_++;
  } else if (here > home_dispatches_) {
    home_ = processor;
    home_dispatches_ = here;
  }
  if (home_ == processor) {
    counts_.home++;
    return;
  }
  counts_.away++;
  if (bits_) counts_.distances.count(*bits_, *home_, processor, 1);
}

}  // namespace htmtrace
