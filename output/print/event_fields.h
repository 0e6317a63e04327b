// SPDX-License-Identifier: GPL-2.0-or-later
// The fields of decoded events: their names and order in each format. The printers, the schemas of
// Avro and Parquet, and the lists of htmtrace-decode(1) are generated from these tables. To add a
// field, add it here and to value_of() (field_values.h, nest_fields.h), and run .ci/list-fields.
// decode --fields chooses a field by its name in text or, without such a name, in JSON.
// htmtrace-decode(1), OUTPUT, defines the names as interfaces: new fields follow the others of
// their format.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/core_trace/instruction_class.h"
#include "core/core_trace/modes.h"

namespace htmtrace {

struct FieldName {
  // Position in the format, from 1. 0: the format does not have the field. A text field with
  // position 0 and a name exists only with --fields.
  uint8_t at = 0;
  std::string_view name = {};
};

enum class FieldKind : uint8_t {
  kLong,  // 64 bits
  kInt,   // 32 bits
  kText,
  kName,      // the index of an element of `names`
  kAccesses,  // a list of data accesses with ea and optional ra and la
};

inline constexpr bool kRequired = false;
inline constexpr bool kOptional = true;

// A column of Avro and Parquet.
struct RowField {
  uint8_t at = 0;  // as in FieldName
  std::string_view name = {};
  FieldKind kind = FieldKind::kLong;
  bool optional = kRequired;  // kLong, kInt and kText only
  std::string_view doc = {};
  std::span<const std::string_view> names = {};
};

template <class Id>
struct EventField {
  Id id;
  FieldName text;
  FieldName json;
  FieldName csv;
  RowField row;
  std::string_view description;  // for the manual
};

// ------------------------------------------------------------------------------ INSTRUCTIONS

enum class InstructionField : uint8_t {
  kTarget,
  kType,
  kNumber,
  kTicks,
  kOffset,
  kEa,
  kOpcode,
  kPrefix,
  kRa,
  kLa,
  kClass,
  kPrivilege,
  kModes,
  kSymbol,
  kData,
  kAssembler,
  kProcess,
  kLine,
  kInlined,
};

// One field has three lines: its names in text, JSON and CSV, its column in Avro and Parquet, its
// description.
// clang-format off

inline constexpr auto kInstructionFields = [] {
  using enum InstructionField;
  using enum FieldKind;
  return std::to_array<EventField<InstructionField>>({
      //              text                JSON                   CSV
      {kTarget,       {},                 {1, "target"},         {1, "target"},
       {},
       "The traced unit: nN.pP.cC, or the path of a file with another kind of name."},
      {kType,         {},                 {2, "type"},           {},
       {},
       "The kind of event: instruction, stamp or walk."},
      {kNumber,       {0, "insn"},        {},                    {},
       {1, "number", kLong, kRequired, "number of the instruction in its trace, from 0"},
       "The number of the instruction in its trace, from 0."},
      {kTicks,        {0, "tick"},        {},                    {},
       {2, "ticks", kLong, kRequired, "sum of the ticks in the preceding stamps"},
       "The sum of the elapsed ticks in all stamps that precede the instruction."},
      {kOffset,       {},                 {3, "offset"},         {2, "offset"},
       {3, "offset", kLong, kRequired, "offset of the record in the trace, in bytes"},
       "The offset of the record in the trace, in bytes."},
      {kEa,           {1, "ea"},          {4, "ea"},             {3, "ea"},
       {4, "ea", kLong, kOptional, "effective address"},
       "Effective address of the instruction, 16 digits."},
      {kOpcode,       {2, "op"},          {5, "op"},             {4, "op"},
       {7, "opcode", kLong, kOptional, "instruction word; the suffix of a prefixed instruction"},
       "The instruction word, 8 digits; prefix and suffix of a prefixed instruction, 16 digits."},
      {kPrefix,       {},                 {},                    {},
       {8, "prefix", kLong, kOptional, "prefix of a prefixed instruction"},
       "The prefix of a prefixed instruction, whose opcode is the suffix."},
      {kRa,           {3, "ra"},          {6, "ra"},             {5, "ra"},
       {5, "ra", kLong, kOptional, "real address"},
       "Machine real address of the instruction."},
      {kLa,           {4, "la"},          {7, "la"},             {6, "la"},
       {6, "la", kLong, kOptional, "logical real address"},
       "Logical real address of the instruction: the address that the partition uses for its "
       "real memory (on Linux, a physical address)."},
      {kClass,        {},                 {8, "class"},          {7, "class"},
       {9, "class", kName, kRequired, "class of the instruction", kInstructionClassNames},
       "The kind of work that the instruction does, as for --class."},
      {kPrivilege,    {5, "privilege"},   {9, "privilege"},      {8, "privilege"},
       {10, "privilege", kName, kRequired, "privilege of the instruction", kPrivilegeNames},
       "user, kernel, hypervisor, ultravisor or unknown. In text, with --modes."},
      {kModes,        {6, "modes"},       {10, "modes"},         {9, "modes"},
       {11, "modes", kInt, kRequired,
        "bits 0 to 9 of the MSR word (HV is 512); unknown bits are 0"},
       "The MSR bits that are set. In text, with --modes."},
      {kSymbol,       {7, "sym"},         {11, "symbol"},        {10, "symbol"},
       {},
       "The name of the effective address of the instruction. With --symbols."},
      {kData,         {},                 {12, "data"},          {},
       {12, "data", kAccesses, kRequired, "data accesses, at most two"},
       "The data accesses of the instruction, at most two."},
      {kAssembler,    {8, "asm"},         {},                    {},
       {},
       "The disassembled instruction, up to the end of the line. With --disassemble."},
      {kProcess,      {0, "process"},     {},                    {},
       {},
       "The process: COMMAND:PID, kernel or unknown; see PROCESSES."},
      {kLine,         {0, "line"},        {},                    {},
       {},
       "The source line: FILE:LINE; see SOURCE LINES."},
      {kInlined,      {0, "inlined"},     {},                    {},
       {},
       "The functions that the compiler inlined there, and their calls; see SOURCE LINES."},
  });
}();

// The fields of each data access. In text, they follow the logical address of the instruction, and
// the names of data addresses follow the name of the instruction address. In CSV, each of the two
// accesses has its columns. The names of the second access end with a 2.
enum class AccessField : uint8_t { kEa, kRa, kLa, kSymbol };

inline constexpr auto kAccessFields = [] {
  using enum AccessField;
  using enum FieldKind;
  return std::to_array<EventField<AccessField>>({
      //              text                JSON                   CSV
      {kEa,           {1, "dea"},         {1, "ea"},             {1, "dea"},
       {1, "ea", kLong, kRequired, "effective address"},
       "Effective data address."},
      {kRa,           {2, "dra"},         {2, "ra"},             {2, "dra"},
       {2, "ra", kLong, kOptional, "real address, if the trace contains it"},
       "Machine real address of the data."},
      {kLa,           {3, "dla"},         {3, "la"},             {3, "dla"},
       {3, "la", kLong, kOptional, "logical real address, if the memory map knows it"},
       "Logical real address of the data."},
      {kSymbol,       {4, "dsym"},        {4, "symbol"},         {4, "dsymbol"},
       {},
       "The name of the effective data address. With --symbols."},
  });
}();

// ------------------------------------------------------------------------------ BUS COMMANDS

// Also the fields of a response whose command is unknown.
enum class NestField : uint8_t {
  kTarget,
  kType,
  kOffset,
  kTime,
  kEngine,
  kCommand,
  kTtype,
  kRa,
  kLa,
  kScope,
  kPort,
  kGroup,
  kChip,
  kTicket,
  kUnit,
  kUnitName,
  kTransaction,
  kSource,
  kPriority,
  kTsize,
  kResponseCode,
  kResponse,
};

inline constexpr auto kNestFields = [] {
  using enum NestField;
  using enum FieldKind;
  return std::to_array<EventField<NestField>>({
      //              text                JSON                   CSV
      {kTarget,       {},                 {1, "target"},         {1, "target"},
       {},
       "The traced unit, as for an instruction."},
      {kType,         {},                 {2, "type"},           {5, "kind"},
       {},
       "command or response. JSON also has stamp, and record if the layout is unknown."},
      {kOffset,       {},                 {3, "offset"},         {2, "offset"},
       {2, "offset", kLong, kRequired, "offset of the record in the trace, in bytes"},
       "The offset of the record in the trace, in bytes."},
      {kTime,         {1, "time"},        {4, "time"},           {3, "time"},
       {1, "ticks", kLong, kRequired, "time"},
       "Time in ticks of an undocumented length."},
      {kEngine,       {2, "engine"},      {5, "engine"},         {4, "engine"},
       {3, "engine", kInt, kRequired, "engine that recorded the command"},
       "The engine that recorded the event."},
      {kCommand,      {3, "command"},     {6, "command"},        {6, "name"},
       {5, "name", kText, kOptional, "name of the command; null: unknown, or a response"},
       "The name of the command."},
      {kTtype,        {},                 {7, "ttype"},          {},
       {6, "ttype", kInt, kOptional, "type code of the command; null: a response"},
       "The type of the command, a code."},
      {kRa,           {4, "ra"},          {9, "ra"},             {7, "ra"},
       {8, "ra", kLong, kOptional, "real address, if the command has one"},
       "Machine real address, if the command has an address."},
      {kLa,           {5, "la"},          {10, "la"},            {8, "la"},
       {9, "la", kLong, kOptional, "logical real address, if the memory map knows it"},
       "Logical real address, if the address is in the memory of the partition."},
      {kScope,        {6, "scope"},       {16, "scope"},         {9, "scope"},
       {10, "scope", kText, kRequired, "scope of the command"},
       "The part of the machine that the command reaches."},
      {kPort,         {7, "port"},        {17, "port"},          {10, "port"},
       {4, "port", kInt, kRequired, "half of the bus"},
       "The port of the bus."},
      {kGroup,        {8, "group"},       {18, "group"},         {11, "group"},
       {11, "bus_group", kInt, kRequired, "group of the sending unit"},
       "The group of the unit that sent the command. In POWER8 traces, the node."},
      {kChip,         {9, "chip"},        {19, "chip"},          {12, "chip"},
       {12, "chip", kInt, kRequired, "chip of the sending unit"},
       "The chip of the unit that sent the command."},
      {kTicket,       {10, "ticket"},     {20, "ticket"},        {16, "ticket"},
       {16, "ticket", kInt, kRequired, "ticket of the command"},
       "The number that the command shares with its response."},
      {kUnit,         {11, "unit"},       {11, "unit"},          {13, "unit"},
       {13, "unit", kInt, kOptional, "unit that sent the command; null: a response"},
       "The number of the unit that sent the command. In text, its kind follows."},
      {kUnitName,     {},                 {12, "unit_name"},     {14, "unit_name"},
       {14, "unit_name", kText, kOptional, "kind of the sending unit"},
       "The kind of the unit."},
      {kTransaction,  {12, "transaction"}, {13, "transaction"},  {15, "transaction"},
       {15, "transaction", kInt, kOptional, "transaction number of the unit"},
       "The transaction of the unit."},
      {kSource,       {},                 {14, "source"},        {},
       {},
       "The source field of the record. Only in POWER8 traces."},
      {kPriority,     {},                 {15, "priority"},      {},
       {},
       "The priority field of the record. Only in POWER8 traces."},
      {kTsize,        {13, "tsize"},      {8, "tsize"},          {17, "tsize"},
       {7, "tsize", kInt, kOptional, "secondary encoding of the command"},
       "The secondary encoding of the command, a code."},
      {kResponseCode, {},                 {21, "response_code"}, {},
       {17, "response_code", kInt, kOptional, "response code; null: no response"},
       "The code of the combined response, if the trace has the response."},
      {kResponse,     {14, "response"},   {22, "response"},      {18, "response"},
       {18, "response", kText, kOptional, "name of the response; null: no response, or unknown"},
       "The name of the combined response."},
  });
}();

// clang-format on

}  // namespace htmtrace
