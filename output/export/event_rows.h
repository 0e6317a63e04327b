// SPDX-License-Identifier: GPL-2.0-or-later
// Converts events to rows with the schemas of row_schema.h.
#pragma once

#include <optional>
#include <span>

#include "core/core_trace/events.h"
#include "core/core_trace/sink.h"
#include "core/nest_trace/events.h"
#include "output/export/row_parts.h"
#include "output/print/field_list.h"
#include "output/print/field_values.h"
#include "output/print/nest_fields.h"

namespace htmtrace {

// A sink for CoreDecoder after a SelectingSink, which supplies the position.
template <class File>
class CoreRows {
 public:
  explicit CoreRows(RowParts<File>& parts) : parts_(parts) {}

  void at(const TracePlace& place) { place_ = place; }
  void instruction(const Instruction& instruction) {
    auto& row = parts_.begin_row(place_.ticks);
    put_columns(row, instruction, kFieldsOf<InstructionField, &EventField<InstructionField>::row>);
    parts_.end_row();
  }
  void stamp(const Stamp&) {}
  void defect(const Defect&) {}

 private:
  template <InstructionField... kFields>
  void put_columns(auto& row, const Instruction& instruction, FieldList<kFields...>) {
    (put_one<kFields>(row, instruction), ...);
  }
  template <InstructionField kField>
  void put_one(auto& row, const Instruction& instruction) {
    if constexpr (kField == InstructionField::kNumber) {
      row.number(place_.instructions);
    } else if constexpr (kField == InstructionField::kTicks) {
      row.number(place_.ticks);
    } else if constexpr (kField == InstructionField::kData) {
      row.accesses(std::span(instruction.data).first(instruction.data_count));
    } else {
      put_column<kField>(row, value_of<kField>(instruction));
    }
  }

  RowParts<File>& parts_;
  TracePlace place_;
};

// Receives events after a NestChoice: commands, and responses whose command is unknown.
template <class File>
class NestRows {
 public:
  NestRows(RowParts<File>& parts, nest::Layout layout) : parts_(parts), reader_(layout) {}

  void event(const nest::Event& event, std::optional<LogicalAddr> la) {
    if (event.kind != nest::Event::Kind::kCommand && event.kind != nest::Event::Kind::kResponse) {
      return;
    }
    put_columns(parts_.begin_row(event.time), reader_.values_of(event, la),
                kFieldsOf<NestField, &EventField<NestField>::row>);
    parts_.end_row();
  }

 private:
  template <NestField... kFields>
  static void put_columns(auto& row, const NestValues& values, FieldList<kFields...>) {
    (put_column<kFields>(row, value_of<kFields>(values)), ...);
  }

  RowParts<File>& parts_;
  NestReader reader_;
};

}  // namespace htmtrace
