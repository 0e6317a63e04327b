// SPDX-License-Identifier: GPL-2.0-or-later
// The values of the fields of bus commands and responses.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/memory_map/translation.h"
#include "core/nest_trace/events.h"
#include "core/nest_trace/names.h"
#include "core/nest_trace/words.h"
#include "output/print/field_values.h"

namespace htmtrace {

// A command or response with its codes extracted and named.
struct NestValues {
  const nest::Event& event;
  nest::Command command;  // of a response: only its own fields
  nest::CommandName name;
  std::optional<LogicalAddr> la;
  std::string_view scope;
  std::string_view unit;
  std::string_view response;
  unsigned code = 0;  // of the response, if it is known
  bool is_command = false;
  bool is_power8 = false;

  bool has_address() const { return is_command && name.port == nest::PortRule::kAddress; }
  bool has_response() const { return !is_command || event.has_response; }
};

// Extracts the values of all events of one trace.
class NestReader {
 public:
  explicit NestReader(nest::Layout layout);

  // `event` is a command or a response of a known layout, and must outlive the result. `la` is the
  // logical address of a command with an address, if known.
  NestValues values_of(const nest::Event& event, std::optional<LogicalAddr> la) const;

 private:
  nest::Layout layout_;
  const nest::Names& names_;
  std::vector<std::string_view> units_;  // indexed by unit number
};

// The printers have kTarget.
template <NestField kField>
[[gnu::always_inline]] inline auto value_of(const NestValues& values) {
  using enum NestField;
  const nest::Command& command = values.command;
  if constexpr (kField == kType) {
    return Name{values.is_command ? "command" : "response"};
  } else if constexpr (kField == kOffset) {
    return Number{values.event.offset};
  } else if constexpr (kField == kTime) {
    return Number{values.event.time};
  } else if constexpr (kField == kEngine) {
    return Number{values.event.engine};
  } else if constexpr (kField == kCommand) {
    return CodeName{values.name.name, command.ttype << 8 | command.tsize, 4, values.is_command};
  } else if constexpr (kField == kTtype) {
    return Number{command.ttype, values.is_command};
  } else if constexpr (kField == kTsize) {
    return Number{command.tsize, values.is_command};
  } else if constexpr (kField == kRa) {
    return Address{command.address, values.has_address()};
  } else if constexpr (kField == kLa) {
    return Address{values.la.value_or(LogicalAddr{}).value, values.la.has_value()};
  } else if constexpr (kField == kScope) {
    return Name{values.scope};
  } else if constexpr (kField == kPort) {
    return Number{values.event.port};
  } else if constexpr (kField == kGroup) {
    return Number{command.tag.group};
  } else if constexpr (kField == kChip) {
    return Number{command.tag.chip};
  } else if constexpr (kField == kTicket) {
    return Number{command.ticket};
  } else if constexpr (kField == kUnit) {
    return Number{command.tag.unit, values.is_command};
  } else if constexpr (kField == kUnitName) {
    return Name{values.unit};
  } else if constexpr (kField == kTransaction) {
    return Number{command.tag.transaction, values.is_command};
  } else if constexpr (kField == kSource) {
    return Number{command.source, values.is_command && values.is_power8};
  } else if constexpr (kField == kPriority) {
    return Number{command.priority, values.is_command && values.is_power8};
  } else if constexpr (kField == kResponseCode) {
    return Number{values.code, values.has_response()};
  } else {
    static_assert(kField == kResponse);
    return CodeName{values.response, values.code, 2, values.has_response()};
  }
}

// Returns "Ln", "Nn", "G" and so on.
std::string_view nest_scope_name(nest::Layout layout, unsigned scope);

}  // namespace htmtrace
