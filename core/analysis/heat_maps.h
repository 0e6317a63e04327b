// SPDX-License-Identifier: GPL-2.0-or-later
// Heat maps of traces: data accesses of core traces, commands of nest traces.
#pragma once

#include <cstdint>
#include <optional>

#include "core/analysis/heat_map.h"
#include "core/analysis/hot_spots.h"
#include "core/analysis/symbol_cursor.h"
#include "core/base/address.h"
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

  HeatAxis axis() const {
    return axis_.value_or(by_ticks_.windows() > 1 ? HeatAxis::kTicks : HeatAxis::kEvents);
  }
  const HeatMap& map() const { return axis() == HeatAxis::kTicks ? by_ticks_ : by_events_; }
  uint64_t events() const { return events_; }
  uint64_t without_address() const { return without_address_; }

 private:
  std::optional<HeatAxis> axis_;
  HeatMap by_ticks_;
  HeatMap by_events_;
  uint64_t events_ = 0;
  uint64_t without_address_ = 0;
};

// A sink for CoreDecoder that follows a SelectingSink, which sets the position.
class DataHeat {
 public:
  // Names are effective addresses with their owners (core/analysis/symbol_table.h).
  DataHeat(HeatMaps& maps, DataKey key, const SymbolTable& symbols)
      : maps_(maps), key_(key), cursor_(symbols) {}

  void at(const TracePlace& place) { place_ = place; }
  void instruction(const Instruction& instruction) {
    cursor_.code(instruction);
    for (unsigned i = 0; i < instruction.data_count; i++) {
      const DataAccess& data = instruction.data.at(i);
      const EffectiveAddr name = cursor_.data(data);
      maps_.add(address_of(data, key_), place_,
                owned::is_nobodys(data.ea.value) ? HeatMap::kNoName : name.value);
    }
  }
  void stamp(const Stamp&) {}
  void defect(const Defect&) {}

 private:
  HeatMaps& maps_;
  DataKey key_;
  SymbolCursor cursor_;
  TracePlace place_;
};

}  // namespace htmtrace
