// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/dispatch_log/unknown_time.h"

#include <algorithm>
#include <tuple>

namespace htmtrace {

void DtlUnknownTime::add(int cpu, const DtlEntry& entry, const Part& part) {
  const uint64_t ticks = part.not_queued + part.queued;
  Place& place = places_.at(static_cast<uint64_t>(cpu) << 16 | entry.processor_id);
  place.count++;
  place.unknown += ticks;
  not_queued_ += part.not_queued;
  queued_ += part.queued;
  preempt_[entry.preempt_reason] += ticks;
  if (part.late) late_ += ticks;
  if (part.hour) hours_[*part.hour] += ticks;
}

std::optional<uint64_t> DtlUnknownTime::for_home() const {
  if (places_.error() != 0) return std::nullopt;
  auto places = places_.entries();
  // The home of each virtual processor comes first.
  std::ranges::sort(places, {}, [](const auto& place) {
    return std::tuple(place.key >> 16, ~place.entry.count, place.key);
  });
  uint64_t ticks = 0;
  for (size_t i = 0; i < places.size(); i++) {
    const bool home = i == 0 || places[i].key >> 16 != places[i - 1].key >> 16;
    if (home) ticks += places[i].entry.unknown;
  }
  return ticks;
}

}  // namespace htmtrace
