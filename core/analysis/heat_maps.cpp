// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/analysis/heat_maps.h"

namespace htmtrace {
namespace {

// `time_of(touch, step)` returns the time of a touch in the map's unit. The part has touches.
template <class TimeOf>
void add_part(HeatMap& map, const HeatPart& part, const TimeOf& time_of) {
  const std::vector<HeatPart::Touch>& touches = part.touches();
  const std::vector<HeatPart::Step>& steps = part.steps();
  const std::vector<ArrivalTable<PlainKey, HeatPart::Row>::Row>& rows = part.rows().rows();
  const uint64_t first = time_of(touches.front(), steps.front());
  if (map.in_one_window(first, time_of(touches.back(), steps.back()))) {
    for (const auto& [address, row] : rows) map.add(address.value, first, row.count, row.names);
    return;
  }
  size_t step = 0;
  for (size_t i = 0; i < touches.size(); i++) {
    if (step + 1 < steps.size() && steps[step + 1].touch == i) step++;
    const auto& [address, row] = rows[touches[i].row];
    map.add(address.value, time_of(touches[i], steps[step]), 1, row.names);
  }
}

}  // namespace

void HeatMaps::add(const HeatPart& part, const TracePlace& base) {
  events_ += part.touches().size() + part.without_address();
  without_address_ += part.without_address();
  if (part.touches().empty()) return;
  const TracePlace begin = sum(base, part.begin());
  if (axis_ != HeatAxis::kEvents) {
    add_part(by_ticks_, part, [&](const HeatPart::Touch&, const HeatPart::Step& step) {
      return begin.ticks + step.ticks;
    });
  }
  if (axis_ != HeatAxis::kTicks) {
    add_part(by_events_, part, [&](const HeatPart::Touch& touch, const HeatPart::Step&) {
      return begin.instructions + touch.instructions;
    });
  }
}

}  // namespace htmtrace
