// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/print/nest_printer.h"

#include <fmt/core.h>

#include "output/io/csv_field.h"
#include "output/io/hex_text.h"
#include "output/io/json_writer.h"
#include "output/io/put_text.h"
#include "output/print/json_printer.h"
#include "output/print/text_printer.h"

namespace htmtrace {
namespace {

using nest::Event;
using nest::Layout;

// Writes the code itself if it has no name.
char* put_name(char* to, std::string_view name, unsigned code) {
  return name.empty() ? put_hex_digits(to, code, 2) : put_text(to, name);
}

// The fields that follow the target.
constexpr auto kNestKeys = kFieldsOf<NestField, &EventField<NestField>::json, 2>;
constexpr auto kNestColumns = kFieldsOf<NestField, &EventField<NestField>::csv, 2>;

template <NestField... kFields>
char* put_keys(char* to, const NestValues& values, FieldList<kFields...>) {
  ((to = put_json<kFields>(to, value_of<kFields>(values))), ...);
  return to;
}

template <NestField... kFields>
char* put_columns(char* to, const NestValues& values, FieldList<kFields...>) {
  ((to = put_csv(to, value_of<kFields>(values))), ...);
  return to;
}

}  // namespace

NestPrinter::NestPrinter(TextOutput& output, Layout layout, Wishes wishes)
    : output_(output),
      layout_(layout),
      wishes_(std::move(wishes)),
      as_text_lines_(wishes_.format == Format::kText && layout != Layout::kUnknown),
      target_(wishes_.format == Format::kJson ? json_string(wishes_.target)
                                              : csv_field(wishes_.target)),
      reader_(layout),
      text_(layout) {}

// Writes "TIME : WHERE LABEL ... addr:0xADDRESS". The perf series of the htm PMU parses hexadecimal
// time, one word, one word that names the event, and every "addr:0x". The other fields are for
// people.
void NestPrinter::put_htmdecode_line(const NestValues& values) {
  const nest::Command& command = values.command;
  char* at = put_hex64(output_.room(), values.event.time);
  at = put_text(at, values.is_command ? " : R" : " : C");
  at = put_decimal(at, values.event.port);
  *at++ = ':';
  at = put_text(at, values.scope);
  *at++ = ' ';
  if (!values.is_command) {
    at = put_hex_digits(put_text(at, "cresp="), values.code, 2);
  } else if (values.name.name.empty()) {
    at = put_hex_digits(put_hex_digits(put_text(at, "ttype="), command.ttype, 2), command.tsize, 2);
  } else {
    at = put_text(at, values.name.name);
  }
  if (values.is_command) at = put_hex_digits(put_text(at, " tsize="), command.tsize, 2);
  at = put_hex_digits(put_text(at, " ticket="), command.ticket, 2);
  if (values.has_address()) at = put_hex64(put_text(at, " addr:0x"), command.address);
  at = put_decimal(put_text(at, " ttag=g"), command.tag.group);
  at = put_decimal(put_text(at, ".c"), command.tag.chip);
  if (values.is_command) {
    at = put_hex_digits(put_text(at, ".u"), command.tag.unit, 3);
    at = put_hex_digits(put_text(at, ".t"), command.tag.transaction, 2);
    if (values.event.has_response) at = put_name(put_text(at, " "), values.response, values.code);
  }
  *at++ = '\n';
  output_.commit(at);
}

void NestPrinter::put_json_line(const NestValues& values) {
  output_.commit(kJsonKey<NestField::kTarget, false>.put(output_.room()));
  output_.put(target_);
  char* const at = put_keys(output_.room(), values, kNestKeys);
  output_.commit(put_text(at, "}\n"));
}

void NestPrinter::put_csv_line(const NestValues& values) {
  output_.put(target_);
  char* const at = put_columns(output_.room(), values, kNestColumns);
  output_.commit(put_text(at, "\n"));
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

void NestPrinter::put_other(const Event& event, const std::optional<LogicalAddr>& la) {
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
  const NestValues values = reader_.values_of(event, la);
  switch (wishes_.format) {
    case Format::kText:
    case Format::kHtmdecode:
      put_htmdecode_line(values);
      break;
    case Format::kJson:
      put_json_line(values);
      break;
    case Format::kCsv:
      put_csv_line(values);
      break;
  }
}

}  // namespace htmtrace
