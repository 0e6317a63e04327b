// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/export/row_schema.h"

#include "output/print/field_list.h"

namespace htmtrace {
namespace {

template <class Id>
std::vector<RowField> columns_of() {
  constexpr auto& kIds = kFieldIds<Id, &EventField<Id>::row>;
  std::vector<RowField> columns;
  columns.reserve(kIds.size());
  for (const Id id : kIds) columns.push_back(field_of(id).row);
  return columns;
}

}  // namespace

std::span<const RowField> access_row_fields() {
  static const std::vector<RowField> fields = columns_of<AccessField>();
  return fields;
}

const RowSchema& core_row_schema() {
  static const RowSchema schema{
      .name = "instruction",
      .doc =
          "A completed instruction of a core trace. Addresses are 64 bits without sign, as a long.",
      .fields = columns_of<InstructionField>()};
  return schema;
}

const RowSchema& nest_row_schema() {
  static const RowSchema schema{
      .name = "command",
      .doc =
          "A command on a bus, or a response whose command is not known. Addresses are 64 bits "
          "without sign, as a long.",
      .fields = columns_of<NestField>()};
  return schema;
}

}  // namespace htmtrace
