// SPDX-License-Identifier: GPL-2.0-or-later
// Prints chosen fields of bus commands and responses (decode --fields).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/memory_map/translation.h"
#include "core/nest_trace/events.h"
#include "output/io/text_output.h"
#include "output/print/fields_line.h"
#include "output/print/nest_fields.h"

namespace htmtrace {

// Returns the names of all fields, in the order of htmtrace-decode(1).
std::vector<std::string_view> nest_field_names();

class NestFieldsPrinter {
 public:
  struct Wishes {
    FieldsFormat format = FieldsFormat::kText;
    const std::vector<std::string>& fields;  // only nest_field_names()
    std::string target;
  };
  // `layout` is known.
  NestFieldsPrinter(TextOutput& output, nest::Layout layout, const Wishes& wishes);

  // Prints commands and responses. `la` is the logical address of a command with an address, if
  // known.
  void event(const nest::Event& event, std::optional<LogicalAddr> la);

 private:
  friend struct NestFieldWriters;
  using Put = void (*)(NestFieldsPrinter&, const NestValues&, std::string_view name);
  struct Column {
    Put put;
    std::string_view name;
  };

  FieldsLine line_;
  FieldsFormat format_;
  std::string target_;
  NestReader reader_;
  std::vector<Column> columns_;
};

}  // namespace htmtrace
