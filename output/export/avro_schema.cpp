// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/core.h>

#include <iterator>

#include "output/export/avro_file.h"

namespace htmtrace {
namespace {

// Prints the elements with commas between them.
template <class Elements, class Print>
std::string list(const Elements& elements, const Print& print) {
  std::string text;
  for (const auto& element : elements) {
    if (!text.empty()) text += ',';
    text += print(element);
  }
  return text;
}

std::string record(std::string_view name, std::string_view doc, std::span<const RowField> fields);

std::string type_of(const RowField& field) {
  switch (field.kind) {
    case FieldKind::kLong:
      return R"("long")";
    case FieldKind::kInt:
      return R"("int")";
    case FieldKind::kText:
      return R"("string")";
    case FieldKind::kName:
      return fmt::format(
          R"({{"type":"enum","name":"{}","symbols":[{}]}})", field.name,
          list(field.names, [](std::string_view name) { return fmt::format("\"{}\"", name); }));
    case FieldKind::kAccesses:
      break;
  }
  return fmt::format(R"({{"type":"array","items":{}}})",
                     record("access", "One data access.", kAccessFields));
}

std::string field_text(const RowField& field) {
  const std::string type = type_of(field);
  return fmt::format(R"({{"name":"{}","type":{},"doc":"{}"}})", field.name,
                     field.optional ? fmt::format(R"(["null",{}])", type) : type, field.doc);
}

std::string record(std::string_view name, std::string_view doc, std::span<const RowField> fields) {
  return fmt::format(R"({{"type":"record","name":"{}","doc":"{}","fields":[{}]}})", name, doc,
                     list(fields, field_text));
}

}  // namespace

std::string avro_schema(const RowSchema& schema) {
  return record(schema.name, schema.doc, schema.fields);
}

}  // namespace htmtrace
