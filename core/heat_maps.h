// SPDX-License-Identifier: GPL-2.0-or-later
// Heat maps of traces: data of core traces, commands of nest traces.
#pragma once

#include <cstdint>
#include <optional>

#include "core/address.h"
#include "core/core_events.h"
#include "core/heat_map.h"
#include "core/hot_spots.h"
#include "core/selection.h"
#include "core/symbol_cursor.h"

namespace htmtrace {

// What the columns of a heat map go by.
enum class HeatAxis : uint8_t {
  kTicks,   // that the stamps have told
  kEvents,  // instructions, or commands of a bus: many core traces are recorded without time
};

// Several traces may be counted together; each begins at time 0.
class HeatMaps {
 public:
  // Without an axis: by ticks if the traces tell any, else by events.
  HeatMaps(uint64_t unit_bytes, std::optional<HeatAxis> axis)
      : axis_(axis), by_ticks_(unit_bytes), by_events_(unit_bytes) {}

  // `event`: the number of the instruction or command in its trace. An address that is not known is
  // counted as such.
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

// A sink for CoreDecoder behind a SelectingSink, which tells it the place.
class DataHeat {
 public:
  // Names are effective addresses with their owners (core/symbol_table.h).
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
