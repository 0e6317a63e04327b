// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/print/nest_printer.h"

#include <fmt/core.h>

#include <iterator>

#include "core/nest_trace/units.h"
#include "output/io/hex_text.h"
#include "output/io/json_writer.h"
#include "output/io/put_text.h"
#include "output/print/csv_printer.h"
#include "output/print/json_printer.h"
#include "output/print/text_printer.h"

namespace htmtrace {
namespace {

using nest::Event;
using nest::Layout;

constexpr unsigned kUnits = 1 << 10;

char* put_hex(char* to, unsigned value, unsigned digits) {
  static constexpr char kDigits[] = "0123456789abcdef";
  for (unsigned i = digits; i-- > 0; value >>= 4) to[i] = kDigits[value & 15];
  return to + digits;
}

// Writes the code itself if it has no name.
char* put_name(char* to, std::string_view name, unsigned code) {
  return name.empty() ? put_hex(to, code, 2) : put_text(to, name);
}

}  // namespace

// The fields of a line. A response fills only its own fields.
struct NestPrinter::Fields {
  const Event& event;
  nest::Command command;
  nest::CommandName name;
  std::optional<LogicalAddr> la;
  std::string_view response;
  unsigned code = 0;
  bool is_command = false;
  bool has_address = false;
};

NestPrinter::NestPrinter(TextOutput& output, Layout layout, Wishes wishes)
    : output_(output),
      layout_(layout),
      wishes_(std::move(wishes)),
      target_(wishes_.format == Format::kJson ? json_string(wishes_.target)
                                              : csv_field(wishes_.target)),
      names_(nest::names_of(layout)),
      text_(layout) {
  for (unsigned unit = 0; unit < kUnits; unit++) units_.push_back(nest::unit_name(layout, unit));
}

NestPrinter::Fields NestPrinter::fields_of(const Event& event,
                                           std::optional<LogicalAddr> la) const {
  Fields fields{.event = event, .command = {}, .name = {}, .la = la, .response = {}};
  fields.is_command = event.kind == Event::Kind::kCommand;
  if (fields.is_command) {
    fields.command = nest::command_of(layout_, event.record);
    fields.name = names_.command(fields.command.ttype, fields.command.tsize);
    fields.has_address = fields.name.port == nest::PortRule::kAddress;
    fields.code = event.response;
    if (event.has_response) fields.response = names_.response(fields.name.response, fields.code);
    return fields;
  }
  const nest::Response response = nest::response_of(layout_, event.record, event.slot);
  fields.code = response.code;
  fields.command.scope = response.scope;
  fields.command.ticket = response.ticket;
  fields.command.tag.group = response.group;
  fields.command.tag.chip = response.chip;
  return fields;
}

// Writes "TIME : WHERE LABEL ... addr:0xADDRESS". The perf series of the htm PMU parses hexadecimal
// time, one word, one word that names the event, and every "addr:0x". The other fields are for
// people.
char* NestPrinter::put_htmdecode_line(char* at, const Fields& f) const {
  const nest::Tag& tag = f.command.tag;
  at = put_hex64(at, f.event.time);
  at = put_text(at, f.is_command ? " : R" : " : C");
  at = put_decimal(at, f.event.port);
  *at++ = ':';
  at = put_text(at, nest_scope_name(layout_, f.command.scope));
  *at++ = ' ';
  if (!f.is_command) {
    at = put_hex(put_text(at, "cresp="), f.code, 2);
  } else if (f.name.name.empty()) {
    at = put_hex(put_hex(put_text(at, "ttype="), f.command.ttype, 2), f.command.tsize, 2);
  } else {
    at = put_text(at, f.name.name);
  }
  if (f.is_command) at = put_hex(put_text(at, " tsize="), f.command.tsize, 2);
  at = put_hex(put_text(at, " ticket="), f.command.ticket, 2);
  if (f.has_address) at = put_hex64(put_text(at, " addr:0x"), f.command.address);
  at = put_decimal(put_text(at, " ttag=g"), tag.group);
  at = put_decimal(put_text(at, ".c"), tag.chip);
  if (f.is_command) {
    at = put_hex(put_text(at, ".u"), tag.unit, 3);
    at = put_hex(put_text(at, ".t"), tag.transaction, 2);
    if (f.event.has_response) at = put_name(put_text(at, " "), f.response, f.code);
  }
  *at++ = '\n';
  return at;
}

void NestPrinter::put_json(const Fields& f) {
  const nest::Tag& tag = f.command.tag;
  std::string line = fmt::format(
      "{{\"target\":{},\"type\":\"{}\",\"offset\":{},\"time\":{},\"engine\":{}", target_,
      f.is_command ? "command" : "response", f.event.offset, f.event.time, f.event.engine);
  const auto out = std::back_inserter(line);
  if (f.is_command) {
    if (!f.name.name.empty()) fmt::format_to(out, ",\"command\":\"{}\"", f.name.name);
    fmt::format_to(out, ",\"ttype\":{},\"tsize\":{}", f.command.ttype, f.command.tsize);
    if (f.has_address) fmt::format_to(out, ",\"ra\":\"0x{:016x}\"", f.command.address);
    if (f.la) fmt::format_to(out, ",\"la\":\"0x{:016x}\"", f.la->value);
    fmt::format_to(out, ",\"unit\":{},\"unit_name\":\"{}\",\"transaction\":{}", tag.unit,
                   units_[tag.unit % kUnits], tag.transaction);
    if (layout_ == Layout::kPower8) {
      fmt::format_to(out, ",\"source\":{},\"priority\":{}", f.command.source, f.command.priority);
    }
  }
  fmt::format_to(out, ",\"scope\":\"{}\",\"port\":{},\"group\":{},\"chip\":{},\"ticket\":{}",
                 nest_scope_name(layout_, f.command.scope), f.event.port, tag.group, tag.chip,
                 f.command.ticket);
  if (!f.is_command || f.event.has_response) {
    fmt::format_to(out, ",\"response_code\":{}", f.code);
    if (!f.response.empty()) fmt::format_to(out, ",\"response\":\"{}\"", f.response);
  }
  line += "}\n";
  output_.put(line);
}

void NestPrinter::put_csv(const Fields& f) {
  const nest::Tag& tag = f.command.tag;
  std::string line = fmt::format("{},{},{},{},{},", target_, f.event.offset, f.event.time,
                                 f.event.engine, f.is_command ? "command" : "response");
  const auto out = std::back_inserter(line);
  if (f.is_command && f.name.name.empty()) {
    fmt::format_to(out, "{:02x}{:02x}", f.command.ttype, f.command.tsize);
  }
  fmt::format_to(out, "{},", f.name.name);
  if (f.has_address) fmt::format_to(out, "0x{:016x}", f.command.address);
  line += ',';
  if (f.la) fmt::format_to(out, "0x{:016x}", f.la->value);
  fmt::format_to(out, ",{},{},{},{},", nest_scope_name(layout_, f.command.scope), f.event.port,
                 tag.group, tag.chip);
  if (f.is_command) {
    fmt::format_to(out, "{},{},{},{},{},", tag.unit, units_[tag.unit % kUnits], tag.transaction,
                   f.command.ticket, f.command.tsize);
  } else {
    fmt::format_to(out, ",,,{},,", f.command.ticket);
  }
  if (!f.is_command || f.event.has_response) {
    if (f.response.empty()) fmt::format_to(out, "{:02x}", f.code);
    line += f.response;
  }
  line += '\n';
  output_.put(line);
}

void NestPrinter::put_stamp(const Event& event) {
  const Stamp stamp = nest::stamp_of(layout_, event);
  if (wishes_.format == Format::kText) {
    output_.put(fmt::format("time={} engine={} {}\n", event.time, event.engine, stamp_line(stamp)));
  } else if (wishes_.format == Format::kHtmdecode) {
    output_.put(fmt::format("{:016x} : {}\n", event.time, stamp_kind_name(stamp.kind)));
  } else {
    output_.put(
        fmt::format("{{\"target\":{},\"type\":\"stamp\",\"offset\":{},\"time\":{},\"engine\":{},"
                    "{}}}\n",
                    target_, event.offset, event.time, event.engine, json_stamp_fields(stamp)));
  }
}

void NestPrinter::event(const Event& event, std::optional<LogicalAddr> la) {
  if (event.kind == Event::Kind::kStamp) {
    if (wishes_.stamps) put_stamp(event);
    return;
  }
  if (event.kind == Event::Kind::kUnknown || layout_ == Layout::kUnknown) {
    if (wishes_.format == Format::kText) {
      output_.put(fmt::format("time={} engine={} record={:016x}{:016x}\n", event.time, event.engine,
                              event.record.high, event.record.low));
    } else if (wishes_.format == Format::kJson) {
      output_.put(fmt::format(
          "{{\"target\":{},\"type\":\"record\",\"offset\":{},\"time\":{},"
          "\"engine\":{},\"record\":\"{:016x}{:016x}\"}}\n",
          target_, event.offset, event.time, event.engine, event.record.high, event.record.low));
    }
    return;
  }
  if (wishes_.format == Format::kText) {
    output_.commit(text_.put(output_.room(), event, la));
    return;
  }
  const Fields fields = fields_of(event, la);
  switch (wishes_.format) {
    case Format::kText:
    case Format::kHtmdecode:
      output_.commit(put_htmdecode_line(output_.room(), fields));
      break;
    case Format::kJson:
      put_json(fields);
      break;
    case Format::kCsv:
      put_csv(fields);
      break;
  }
}

}  // namespace htmtrace
