// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/export/parquet_rows.h"

namespace htmtrace::parquet {

std::vector<Leaf> leaves_of(const RowSchema& schema) {
  std::vector<Leaf> leaves;
  for (const RowField& field : schema.fields) {
    if (field.kind != FieldKind::kAccesses) {
      leaves.push_back({.path = {std::string(field.name)},
                        .kind = field.kind,
                        .repeated = false,
                        .most_level = static_cast<uint8_t>(field.optional ? 1 : 0),
                        .names = field.names});
      continue;
    }
    // LogicalTypes.md, "Lists": the names of the two inner groups.
    for (const RowField& part : access_row_fields()) {
      leaves.push_back(
          {.path = {std::string(field.name), "list", "element", std::string(part.name)},
           .kind = part.kind,
           .repeated = true,
           .most_level = static_cast<uint8_t>(part.optional ? 2 : 1)});
    }
  }
  return leaves;
}

void Rows::clear() {
  for (Column& column : columns_) {
    column.values.clear();
    column.levels.clear();
    column.texts.clear();
  }
  repeats_.clear();
  next_ = 0;
  count_ = 0;
  is_full_ = false;
}

}  // namespace htmtrace::parquet
