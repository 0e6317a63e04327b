// SPDX-License-Identifier: GPL-2.0-or-later
// Events as rows of Avro files. The schemas are an interface: htmtrace-decode(1), AVRO.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/core_events.h"
#include "core/nest_events.h"
#include "core/nest_names.h"
#include "core/selection.h"
#include "output/avro_parts.h"

namespace htmtrace {

// JSON.
std::string avro_core_schema();
std::string avro_nest_schema();

// A sink for CoreDecoder behind a SelectingSink, which tells it the place.
class AvroCoreWriter {
 public:
  explicit AvroCoreWriter(AvroParts& parts) : parts_(parts) {}

  void at(const TracePlace& place) { place_ = place; }
  void instruction(const Instruction& instruction);
  void stamp(const Stamp&) {}
  void defect(const Defect&) {}

 private:
  AvroParts& parts_;
  TracePlace place_;
};

// Behind a NestChoice: commands, and responses whose command is not known.
class AvroNestWriter {
 public:
  AvroNestWriter(AvroParts& parts, nest::Layout layout);

  void event(const nest::Event& event, std::optional<LogicalAddr> la);

 private:
  AvroParts& parts_;
  nest::Layout layout_;
  const nest::Names& names_;
  std::vector<std::string_view> units_;  // by number
};

}  // namespace htmtrace
