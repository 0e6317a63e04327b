// SPDX-License-Identifier: GPL-2.0-or-later
// The data accesses of a part of a core trace, for HeatMaps. Threads can collect different parts at
// the same time, before they know the positions of the parts in the trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/analysis/heat_map.h"
#include "core/analysis/hot_part.h"
#include "core/analysis/symbol_cursor.h"
#include "core/base/arrival_table.h"
#include "core/core_trace/events.h"
#include "core/core_trace/sink.h"

namespace htmtrace {

// A sink for CoreDecoder that follows a SelectingSink, which sets the position. Most parts lie in
// one window of a map, which then needs only the sums of the rows.
class HeatPart {
 public:
  static constexpr size_t kMostTouches = 1 << 15;

  struct Row {
    uint32_t number = 0;  // in the order of the first access, from 0
    uint64_t count = 0;
    HeatMap::Names names;
  };
  // One access.
  struct Touch {
    uint32_t row = 0;
    uint32_t instructions = 0;  // since begin()
  };
  // The accesses from number `touch` on have this number of ticks since begin().
  struct Step {
    size_t touch = 0;
    uint64_t ticks = 0;
  };

  // `unit_bytes` is a power of two. Names are effective addresses with their owners
  // (core/analysis/symbol_table.h). `symbols` must outlive this object.
  HeatPart(DataKey key, uint64_t unit_bytes, const SymbolTable& symbols)
      : key_(key), unit_mask_(~(unit_bytes - 1)), cursor_(symbols) {}

  void at(const TracePlace& place) { place_ = place; }
  void instruction(const Instruction& instruction) {
    cursor_.code(instruction);
    for (unsigned i = 0; i < instruction.data_count; i++) {
      const DataAccess& data = instruction.data.at(i);
      const EffectiveAddr name = cursor_.data(data);
      const std::optional<uint64_t> address = address_of(data, key_);
      if (address) {
        touch(*address, owned::is_nobodys(data.ea.value) ? HeatMap::kNoName : name.value);
      } else {
        without_address_++;
      }
    }
  }
  void stamp(const Stamp&) {}
  void defect(const Defect&) {}

  // Returns true after at() if the caller must use the part and clear it before instruction().
  // Parts of at most 2^32 instructions need no such check.
  bool is_large() const {
    return touches_.size() >= kMostTouches ||
           (!touches_.empty() &&
            place_.instructions - begin_.instructions > std::numeric_limits<uint32_t>::max());
  }

  // The position of the first access. Valid only if there are touches.
  const TracePlace& begin() const { return begin_; }
  const ArrivalTable<PlainKey, Row>& rows() const { return rows_; }  // by address
  const std::vector<Touch>& touches() const { return touches_; }
  const std::vector<Step>& steps() const { return steps_; }
  uint64_t without_address() const { return without_address_; }

  // Keeps the allocated memory.
  void clear() {
    rows_.clear();
    touches_.clear();
    steps_.clear();
    without_address_ = 0;
  }

 private:
  void touch(uint64_t address, uint64_t name) {
    if (touches_.empty()) begin_ = place_;
    const uint64_t ticks = place_.ticks - begin_.ticks;
    if (steps_.empty() || ticks != steps_.back().ticks) steps_.push_back({touches_.size(), ticks});
    Row& row = rows_.at({address & unit_mask_});
    if (row.count == 0) row.number = static_cast<uint32_t>(rows_.rows().size() - 1);
    row.count++;
    row.names.add(name);
    touches_.push_back(
        {row.number, static_cast<uint32_t>(place_.instructions - begin_.instructions)});
  }

  const DataKey key_;
  const uint64_t unit_mask_;
  SymbolCursor cursor_;
  TracePlace place_;
  TracePlace begin_;
  ArrivalTable<PlainKey, Row> rows_;
  std::vector<Touch> touches_;
  std::vector<Step> steps_;
  uint64_t without_address_ = 0;
};

}  // namespace htmtrace
