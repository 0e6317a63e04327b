// SPDX-License-Identifier: GPL-2.0-or-later
// Makes the schemas of rows from the tables of fields. htmtrace-decode(1), avro, parquet, defines
// the schemas as an interface.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "output/print/event_fields.h"

namespace htmtrace {

struct RowSchema {
  std::string_view name;
  std::string_view doc;
  std::vector<RowField> fields;
};

// The fields of an access in a list of accesses.
std::span<const RowField> access_row_fields();

// The rows of a core trace are instructions. The rows of a nest trace are commands, and responses
// without a command.
const RowSchema& core_row_schema();
const RowSchema& nest_row_schema();

}  // namespace htmtrace
