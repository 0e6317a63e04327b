// SPDX-License-Identifier: GPL-2.0-or-later
// Converts events to rows with the schemas of row_schema.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/core_trace/events.h"
#include "core/core_trace/instruction_class.h"
#include "core/core_trace/sink.h"
#include "core/nest_trace/decoder.h"
#include "core/nest_trace/events.h"
#include "core/nest_trace/names.h"
#include "core/nest_trace/units.h"
#include "output/export/row_parts.h"
#include "output/print/nest_text.h"

namespace htmtrace {

// A sink for CoreDecoder after a SelectingSink, which supplies the position.
template <class File>
class CoreRows {
 public:
  explicit CoreRows(RowParts<File>& parts) : parts_(parts) {}

  void at(const TracePlace& place) { place_ = place; }
  void instruction(const Instruction& instruction) {
    auto& row = parts_.begin_row(place_.ticks);
    row.number(place_.instructions);
    row.number(place_.ticks);
    row.number(instruction.offset);
    row.optional(instruction.has_ea, instruction.ea.value);
    row.optional(instruction.has_ra, instruction.ra.value);
    row.optional(instruction.has_la, instruction.la.value);
    row.optional(instruction.has_opcode, instruction.opcode);
    row.optional(instruction.has_prefix, instruction.prefix);
    row.number(static_cast<uint64_t>(class_of(instruction)));
    row.number(static_cast<uint64_t>(privilege_of(instruction.modes)));
    row.number(instruction.modes.bits & instruction.modes.known);
    row.accesses(std::span(instruction.data).first(instruction.data_count));
    parts_.end_row();
  }
  void stamp(const Stamp&) {}
  void defect(const Defect&) {}

 private:
  RowParts<File>& parts_;
  TracePlace place_;
};

// Receives events after a NestChoice: commands, and responses whose command is unknown.
template <class File>
class NestRows {
 public:
  NestRows(RowParts<File>& parts, nest::Layout layout)
      : parts_(parts), layout_(layout), names_(nest::names_of(layout)) {
    for (unsigned unit = 0; unit < kUnitNumbers; unit++)
      units_.push_back(nest::unit_name(layout, unit));
  }

  void event(const nest::Event& event, std::optional<LogicalAddr> la) {
    const bool is_command = event.kind == nest::Event::Kind::kCommand;
    if (!is_command && event.kind != nest::Event::Kind::kResponse) return;
    nest::Command command;
    nest::CommandName name;
    unsigned code = event.response;
    if (is_command) {
      command = nest::command_of(layout_, event.record);
      name = names_.command(command.ttype, command.tsize);
    } else {
      const nest::Response response = nest::response_of(layout_, event.record, event.slot);
      command.tag = {.group = response.group, .chip = response.chip, .unit = 0, .transaction = 0};
      command.scope = response.scope;
      command.ticket = response.ticket;
      code = response.code;
    }
    const bool answered = !is_command || event.has_response;
    auto& row = parts_.begin_row(event.time);
    row.number(event.time);
    row.number(event.offset);
    row.number(event.engine);
    row.number(event.port);
    row.optional_text(name.name);
    row.optional(is_command, command.ttype);
    row.optional(is_command, command.tsize);
    row.optional(is_command && name.port == nest::PortRule::kAddress, command.address);
    row.optional(la.has_value(), la ? la->value : 0);
    row.text(nest_scope_name(layout_, command.scope));
    row.number(command.tag.group);
    row.number(command.tag.chip);
    row.optional(is_command, command.tag.unit);
    row.optional_text(is_command ? units_[command.tag.unit % kUnitNumbers] : std::string_view());
    row.optional(is_command, command.tag.transaction);
    row.number(command.ticket);
    row.optional(answered, code);
    row.optional_text(is_command && answered ? names_.response(name.response, code)
                                             : std::string_view());
    parts_.end_row();
  }

 private:
  static constexpr unsigned kUnitNumbers = 1 << 10;  // ten bits at most (core/nest_trace/words.h)

  RowParts<File>& parts_;
  nest::Layout layout_;
  const nest::Names& names_;
  std::vector<std::string_view> units_;  // indexed by unit number
};

}  // namespace htmtrace
