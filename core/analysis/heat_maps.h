// SPDX-License-Identifier: GPL-2.0-or-later
// Heat maps of traces: data accesses of core traces, commands of nest traces.
#pragma once

#include <cstdint>
#include <optional>

#include "core/analysis/heat_map.h"
#include "core/analysis/heat_part.h"
#include "core/core_trace/events.h"
#include "core/core_trace/sink.h"

namespace htmtrace {

// The unit of the columns of a heat map.
enum class HeatAxis : uint8_t {
  kTicks,   // ticks from the stamps
  kEvents,  // instructions, or commands on a bus: many core traces have no ticks
};

// Counts one or more traces; each trace begins at time 0.
class HeatMaps {
 public:
  // Without an axis, the map uses ticks if the traces have any, and events otherwise.
  HeatMaps(uint64_t unit_bytes, std::optional<HeatAxis> axis)
      : axis_(axis), by_ticks_(unit_bytes), by_events_(unit_bytes) {}

  // place.instructions is the number of the instruction or command in its trace. An access without
  // a known address counts in without_address().
  void add(std::optional<uint64_t> address, const TracePlace& place,
           uint64_t name = HeatMap::kNoName) {
    events_++;
    if (!address) {
      without_address_++;
      return;
    }
    if (axis_ != HeatAxis::kEvents) by_ticks_.add(*address, place.ticks, name);
    if (axis_ != HeatAxis::kTicks) by_events_.add(*address, place.instructions, name);
  }

  // Adds the accesses of a part of a trace. Positions in the part count from `base`.
  void add(const HeatPart& part, const TracePlace& base);

  HeatAxis axis() const {
    return axis_.value_or(by_ticks_.windows() > 1 ? HeatAxis::kTicks : HeatAxis::kEvents);
  }
  const HeatMap& map() const { return axis() == HeatAxis::kTicks ? by_ticks_ : by_events_; }
  uint64_t unit_bytes() const { return by_events_.smallest_unit_bytes(); }
  uint64_t events() const { return events_; }
  uint64_t without_address() const { return without_address_; }

 private:
  std::optional<HeatAxis> axis_;
  HeatMap by_ticks_;
  HeatMap by_events_;
  uint64_t events_ = 0;
  uint64_t without_address_ = 0;
};

// A sink for CoreDecoder that follows a SelectingSink, which sets the position. Several threads can
// collect the accesses of a trace in parts.
class DataHeat {
 public:
  using Part = HeatPart;

  // `maps` and `symbols` must outlive this object. HeatPart describes the names.
  DataHeat(HeatMaps& maps, DataKey key, const SymbolTable& symbols)
      : maps_(maps), key_(key), symbols_(symbols), own_(new_part()) {}

  void at(const TracePlace& place) {
    own_.at(place);
    if (own_.is_large()) take(own_, {});
  }
  void instruction(const Instruction& instruction) { own_.instruction(instruction); }
  void stamp(const Stamp&) {}
  void defect(const Defect&) {}
  // Call finish() after the last instruction.
  void finish() { take(own_, {}); }

  HeatPart new_part() const { return {key_, maps_.unit_bytes(), symbols_}; }
  // Adds the accesses of the part, and clears it.
  void take(HeatPart& part, const TracePlace& base) {
    maps_.add(part, base);
    part.clear();
  }

 private:
  HeatMaps& maps_;
  DataKey key_;
  const SymbolTable& symbols_;
  HeatPart own_;  // the accesses that this sink receives itself
};

}  // namespace htmtrace
