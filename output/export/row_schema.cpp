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
      .fields = {{.name = "number", .doc = "number of the instruction in its trace, from 0"},
                 {.name = "ticks", .doc = "sum of the ticks in the preceding stamps"},
                 {.name = "offset", .doc = "offset of the record in the trace, in bytes"},
                 {.name = "ea", .optional = true, .doc = "effective address"},
                 {.name = "ra", .optional = true, .doc = "real address"},
                 {.name = "la", .optional = true, .doc = "logical real address"},
                 {.name = "opcode",
                  .optional = true,
                  .doc = "instruction word; the suffix of a prefixed instruction"},
                 {.name = "prefix", .optional = true, .doc = "prefix of a prefixed instruction"},
                 {.name = "class",
                  .kind = kName,
                  .doc = "class of the instruction",
                  .names = kInstructionClassNames},
                 {.name = "privilege",
                  .kind = kName,
                  .doc = "privilege of the instruction",
                  .names = kPrivilegeNames},
                 {.name = "modes",
                  .kind = kInt,
                  .doc = "bits 0 to 9 of the MSR word (HV is 512); unknown bits are 0"},
                 {.name = "data", .kind = kAccesses, .doc = "data accesses, at most two"}}};
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
          {.name = "offset", .doc = "offset of the record in the trace, in bytes"},
          {.name = "engine", .kind = kInt, .doc = "engine that recorded the command"},
          {.name = "port", .kind = kInt, .doc = "half of the bus"},
          {.name = "name",
           .kind = kText,
           .optional = true,
           .doc = "name of the command; null: unknown, or a response"},
          {.name = "ttype",
           .kind = kInt,
           .optional = true,
           .doc = "type code of the command; null: a response"},
          {.name = "tsize",
           .kind = kInt,
           .optional = true,
           .doc = "secondary encoding of the command"},
          {.name = "ra", .optional = true, .doc = "real address, if the command has one"},
          {.name = "la",
           .optional = true,
           .doc = "logical real address, if the memory map knows it"},
          {.name = "scope", .kind = kText, .doc = "scope of the command"},
          {.name = "bus_group", .kind = kInt, .doc = "group of the sending unit"},
          {.name = "chip", .kind = kInt, .doc = "chip of the sending unit"},
          {.name = "unit",
           .kind = kInt,
           .optional = true,
           .doc = "unit that sent the command; null: a response"},
          {.name = "unit_name", .kind = kText, .optional = true, .doc = "kind of the sending unit"},
          {.name = "transaction",
           .kind = kInt,
           .optional = true,
           .doc = "transaction number of the unit"},
          {.name = "ticket", .kind = kInt, .doc = "ticket of the command"},
          {.name = "response_code",
           .kind = kInt,
           .optional = true,
           .doc = "response code; null: no response"},
          {.name = "response",
           .kind = kText,
           .optional = true,
           .doc = "name of the response; null: no response, or unknown"}}};
  return schema;
}

}  // namespace htmtrace
