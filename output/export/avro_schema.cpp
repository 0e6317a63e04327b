// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/export/avro_file.h"
#include "output/io/json_writer.h"

namespace htmtrace {
namespace {

void write_record(JsonWriter& json, std::string_view key, std::string_view name,
                  std::string_view doc, std::span<const RowField> fields);

void write_type(JsonWriter& json, std::string_view key, const RowField& field) {
  switch (field.kind) {
    case FieldKind::kLong:
      return json.text(key, "long");
    case FieldKind::kInt:
      return json.text(key, "int");
    case FieldKind::kText:
      return json.text(key, "string");
    case FieldKind::kName:
      json.begin_object(key);
      json.text("type", "enum");
      json.text("name", field.name);
      json.begin_array("symbols");
      for (const std::string_view name : field.names) json.text({}, name);
      json.end_array();
      return json.end_object();
    case FieldKind::kAccesses:
      break;
  }
  json.begin_object(key);
  json.text("type", "array");
  write_record(json, "items", "access", "One data access.", access_row_fields());
  json.end_object();
}

void write_field(JsonWriter& json, const RowField& field) {
  json.begin_object();
  json.text("name", field.name);
  if (field.optional) {
    json.begin_array("type");
    json.text({}, "null");
    write_type(json, {}, field);
    json.end_array();
  } else {
    write_type(json, "type", field);
  }
  json.text("doc", field.doc);
  json.end_object();
}

void write_record(JsonWriter& json, std::string_view key, std::string_view name,
                  std::string_view doc, std::span<const RowField> fields) {
  json.begin_object(key);
  json.text("type", "record");
  json.text("name", name);
  json.text("doc", doc);
  json.begin_array("fields");
  for (const RowField& field : fields) write_field(json, field);
  json.end_array();
  json.end_object();
}

}  // namespace

std::string avro_schema(const RowSchema& schema) {
  JsonWriter json(JsonWriter::Layout::kCompact);
  write_record(json, {}, schema.name, schema.doc, schema.fields);
  return json.take_part();
}

}  // namespace htmtrace
