// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/avro_rows.h"

#include <fmt/core.h>

#include <string_view>

#include "core/instruction_class.h"
#include "core/nest_decoder.h"
#include "core/nest_units.h"
#include "output/nest_printer.h"

namespace htmtrace {
namespace {

constexpr unsigned kUnitNumbers = 1
                                  << 10;  // unit numbers have ten bits at most (core/nest_words.h)

std::string field(std::string_view name, std::string_view type, std::string_view doc) {
  return fmt::format(R"({{"name":"{}","type":{},"doc":"{}"}})", name, type, doc);
}

constexpr std::string_view kLong = R"("long")";
constexpr std::string_view kInt = R"("int")";
constexpr std::string_view kText = R"("string")";
constexpr std::string_view kMaybeLong = R"(["null","long"])";
constexpr std::string_view kMaybeInt = R"(["null","int"])";
constexpr std::string_view kMaybeText = R"(["null","string"])";

template <class Names>
std::string enumeration(std::string_view name, const Names& symbols) {
  std::string text = fmt::format(R"({{"type":"enum","name":"{}","symbols":[)", name);
  for (const std::string_view symbol : symbols) {
    if (!text.ends_with('[')) text += ',';
    fmt::format_to(std::back_inserter(text), "\"{}\"", symbol);
  }
  return text + "]}";
}

std::string record(std::string_view name, std::string_view doc,
                   std::initializer_list<std::string> fields) {
  std::string text =
      fmt::format(R"({{"type":"record","name":"{}","doc":"{}","fields":[)", name, doc);
  for (const std::string& one : fields) {
    if (!text.ends_with('[')) text += ',';
    text += one;
  }
  return text + "]}";
}

void put_maybe_text(AvroRow& row, std::string_view text) {
  if (text.empty()) return row.null();
  row.present();
  row.text(text);
}

}  // namespace

std::string avro_core_schema() {
  const std::string access =
      record("access", "One data access.",
             {field("ea", kLong, "effective address"),
              field("ra", kMaybeLong, "real address, if the trace tells it"),
              field("la", kMaybeLong, "logical real address, if the memory map knows it")});
  return record(
      "instruction",
      "A completed instruction of a core trace. Addresses are 64 bits without sign, as a long.",
      {field("number", kLong, "of the instruction in its trace, from 0"),
       field("ticks", kLong, "that the stamps before it have told"),
       field("offset", kLong, "of its record in the trace, in bytes"),
       field("ea", kMaybeLong, "effective address"), field("ra", kMaybeLong, "real address"),
       field("la", kMaybeLong, "logical real address"),
       field("opcode", kMaybeLong, "of a prefixed instruction its suffix"),
       field("prefix", kMaybeLong, "of a prefixed instruction"),
       field("class", enumeration("class", kInstructionClassNames), "kind of work"),
       field("privilege", enumeration("privilege", kPrivilegeNames), "who ran"),
       field("modes", kInt, "bits 0 to 9 of the MSR word, HV being 512; unknown ones are 0"),
       field("data", fmt::format(R"({{"type":"array","items":{}}})", access), "at most two")});
}

std::string avro_nest_schema() {
  return record(
      "command",
      "A command on a bus, or a response whose command is not known. Addresses are 64 bits without "
      "sign, as a long.",
      {field("ticks", kLong, "time"),
       field("offset", kLong, "of its record in the trace, in bytes"),
       field("engine", kInt, "that recorded it"), field("port", kInt, "half of the bus"),
       field("name", kMaybeText, "of the command; null: of none that is known, or a response"),
       field("ttype", kMaybeInt, "type of the command; null: a response"),
       field("tsize", kMaybeInt, "its secondary encoding"),
       field("ra", kMaybeLong, "real address, if the command has one"),
       field("la", kMaybeLong, "logical real address, if the memory map knows it"),
       field("scope", kText, "how far it went"), field("bus_group", kInt, "of the unit that asked"),
       field("chip", kInt, "of the unit that asked"),
       field("unit", kMaybeInt, "that asked; null: a response"),
       field("unit_name", kMaybeText, "its kind"), field("transaction", kMaybeInt, "of the unit"),
       field("ticket", kInt, "of the command"),
       field("response_code", kMaybeInt, "null: none was seen"),
       field("response", kMaybeText, "its name; null: none, or of none that is known")});
}

void AvroCoreWriter::instruction(const Instruction& instruction) {
  AvroRow& row = parts_.row();
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
  row.elements(instruction.data_count);
  for (unsigned i = 0; i < instruction.data_count; i++) {
    const DataAccess& data = instruction.data.at(i);
    row.number(data.ea.value);
    row.optional(data.has_ra, data.ra.value);
    row.optional(data.has_la, data.la.value);
  }
  row.no_more();
  parts_.append(place_.ticks);
}

AvroNestWriter::AvroNestWriter(AvroParts& parts, nest::Layout layout)
    : parts_(parts), layout_(layout), names_(nest::names_of(layout)) {
  for (unsigned unit = 0; unit < kUnitNumbers; unit++)
    units_.push_back(nest::unit_name(layout, unit));
}

void AvroNestWriter::event(const nest::Event& event, std::optional<LogicalAddr> la) {
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
  AvroRow& row = parts_.row();
  row.number(event.time);
  row.number(event.offset);
  row.number(event.engine);
  row.number(event.port);
  put_maybe_text(row, name.name);
  row.optional(is_command, command.ttype);
  row.optional(is_command, command.tsize);
  row.optional(is_command && name.port == nest::PortRule::kAddress, command.address);
  row.optional(la.has_value(), la ? la->value : 0);
  row.text(nest_scope_name(layout_, command.scope));
  row.number(command.tag.group);
  row.number(command.tag.chip);
  row.optional(is_command, command.tag.unit);
  put_maybe_text(row, is_command ? units_[command.tag.unit % kUnitNumbers] : std::string_view());
  row.optional(is_command, command.tag.transaction);
  row.number(command.ticket);
  row.optional(answered, code);
  put_maybe_text(
      row, is_command && answered ? names_.response(name.response, code) : std::string_view());
  parts_.append(event.time);
}

}  // namespace htmtrace
