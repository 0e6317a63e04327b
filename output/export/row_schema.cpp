// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/export/row_schema.h"

#include "core/core_trace/instruction_class.h"

namespace htmtrace {

using enum FieldKind;

const RowSchema& core_row_schema() {
  static const RowSchema schema{
      .name = "instruction",
      .doc =
          "A completed instruction of a core trace. Addresses are 64 bits without sign, as a long.",
      .fields = {
          {.name = "number", .doc = "of the instruction in its trace, from 0"},
          {.name = "ticks", .doc = "that the stamps before it have told"},
          {.name = "offset", .doc = "of its record in the trace, in bytes"},
          {.name = "ea", .optional = true, .doc = "effective address"},
          {.name = "ra", .optional = true, .doc = "real address"},
          {.name = "la", .optional = true, .doc = "logical real address"},
          {.name = "opcode", .optional = true, .doc = "of a prefixed instruction its suffix"},
          {.name = "prefix", .optional = true, .doc = "of a prefixed instruction"},
          {.name = "class", .kind = kName, .doc = "kind of work", .names = kInstructionClassNames},
          {.name = "privilege", .kind = kName, .doc = "who ran", .names = kPrivilegeNames},
          {.name = "modes",
           .kind = kInt,
           .doc = "bits 0 to 9 of the MSR word, HV being 512; unknown ones are 0"},
          {.name = "data", .kind = kAccesses, .doc = "at most two"}}};
  return schema;
}

const RowSchema& nest_row_schema() {
  static const RowSchema schema{
      .name = "command",
      .doc =
          "A command on a bus, or a response whose command is not known. Addresses are 64 bits "
          "without sign, as a long.",
      .fields = {
          {.name = "ticks", .doc = "time"},
          {.name = "offset", .doc = "of its record in the trace, in bytes"},
          {.name = "engine", .kind = kInt, .doc = "that recorded it"},
          {.name = "port", .kind = kInt, .doc = "half of the bus"},
          {.name = "name",
           .kind = kText,
           .optional = true,
           .doc = "of the command; null: of none that is known, or a response"},
          {.name = "ttype",
           .kind = kInt,
           .optional = true,
           .doc = "type of the command; null: a response"},
          {.name = "tsize", .kind = kInt, .optional = true, .doc = "its secondary encoding"},
          {.name = "ra", .optional = true, .doc = "real address, if the command has one"},
          {.name = "la",
           .optional = true,
           .doc = "logical real address, if the memory map knows it"},
          {.name = "scope", .kind = kText, .doc = "how far it went"},
          {.name = "bus_group", .kind = kInt, .doc = "of the unit that asked"},
          {.name = "chip", .kind = kInt, .doc = "of the unit that asked"},
          {.name = "unit", .kind = kInt, .optional = true, .doc = "that asked; null: a response"},
          {.name = "unit_name", .kind = kText, .optional = true, .doc = "its kind"},
          {.name = "transaction", .kind = kInt, .optional = true, .doc = "of the unit"},
          {.name = "ticket", .kind = kInt, .doc = "of the command"},
          {.name = "response_code", .kind = kInt, .optional = true, .doc = "null: none was seen"},
          {.name = "response",
           .kind = kText,
           .optional = true,
           .doc = "its name; null: none, or of none that is known"}}};
  return schema;
}

}  // namespace htmtrace
