// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/print/nest_fields.h"

#include <array>

#include "core/nest_trace/decoder.h"
#include "core/nest_trace/units.h"

namespace htmtrace {
namespace {

constexpr unsigned kUnits = 1 << 10;  // ten bits at most (core/nest_trace/words.h)

}  // namespace

std::string_view nest_scope_name(nest::Layout layout, unsigned scope) {
  static constexpr std::array<std::string_view, 8> kPower8 = {"NP", "GP", "SP", "RP",
                                                              "FP", "FP", "FP", "FP"};
  static constexpr std::array<std::string_view, 8> kPower9 = {"Ln", "1",  "Nn", "G",
                                                              "Rn", "Vg", "6",  "7"};
  return (layout == nest::Layout::kPower8 ? kPower8 : kPower9).at(scope % 8);
}

NestReader::NestReader(nest::Layout layout) : layout_(layout), names_(nest::names_of(layout)) {
  for (unsigned unit = 0; unit < kUnits; unit++) units_.push_back(nest::unit_name(layout, unit));
}

NestValues NestReader::values_of(const nest::Event& event, std::optional<LogicalAddr> la) const {
  NestValues values{.event = event,
                    .command = {},
                    .name = {},
                    .la = la,
                    .scope = {},
                    .unit = {},
                    .response = {},
                    .is_command = event.kind == nest::Event::Kind::kCommand,
                    .is_power8 = layout_ == nest::Layout::kPower8};
  if (values.is_command) {
    values.command = nest::command_of(layout_, event.record);
    values.name = names_.command(values.command.ttype, values.command.tsize);
    values.unit = units_[values.command.tag.unit % kUnits];
    values.code = event.response;
    if (event.has_response) {
      values.response = names_.response(values.name.response, values.code);
    }
  } else {
    const nest::Response response = nest::response_of(layout_, event.record, event.slot);
    values.command.scope = response.scope;
    values.command.ticket = response.ticket;
    values.command.tag.group = response.group;
    values.command.tag.chip = response.chip;
    values.code = response.code;
  }
  values.scope = nest_scope_name(layout_, values.command.scope);
  return values;
}

}  // namespace htmtrace
