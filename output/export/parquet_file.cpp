// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/export/parquet_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "output/export/thrift_writer.h"

namespace htmtrace {
namespace {

using parquet::Chunk;
using parquet::Leaf;

// README.md, "File format": each file begins and ends with these bytes.
constexpr std::string_view kParquetMagic = "PAR1";
// Readers expect a program and its version, and distrust the bounds of texts without them. The
// number is that of htmtrace's rows.
constexpr std::string_view kParquetCreator = "htmtrace version 1.0";
// FileMetaData.version of files with the types and encodings of format 2.
constexpr int32_t kParquetVersion = 2;

// parquet.thrift, Type.
enum class Physical : uint8_t { kInt32 = 1, kInt64 = 2, kByteArray = 6 };
// parquet.thrift, FieldRepetitionType.
enum class Repetition : uint8_t { kRequired = 0, kOptional = 1, kRepeated = 2 };
// parquet.thrift, ConvertedType.
constexpr int32_t kConvertedUtf8 = 0;
constexpr int32_t kConvertedList = 3;
// parquet.thrift, the fields of LogicalType.
constexpr int kStringType = 1;
constexpr int kListType = 3;

Physical physical_of(FieldKind kind) {
  if (kind == FieldKind::kLong) return Physical::kInt64;
  return kind == FieldKind::kInt ? Physical::kInt32 : Physical::kByteArray;
}

// parquet.thrift, CompressionCodec.
int32_t codec_number(RowCodec codec) {
  switch (codec) {
    case RowCodec::kNull:
      return 0;
    case RowCodec::kSnappy:
      return 1;
    case RowCodec::kDeflate:
      return 2;  // gzip
    case RowCodec::kZstandard:
      break;
  }
  return 6;
}

// The annotation of a SchemaElement, by the old field and the new one.
void put_annotation(ThriftWriter& writer, int32_t converted, int logical) {
  writer.i32(6, converted);
  writer.structure(10, [&] { writer.structure(logical, [] {}); });
}

void put_leaf(ThriftWriter& writer, const RowField& field) {
  writer.structure([&] {  // SchemaElement
    const Physical type = physical_of(field.kind);
    writer.i32(1, static_cast<int32_t>(type));
    writer.i32(
        3, static_cast<int32_t>(field.optional ? Repetition::kOptional : Repetition::kRequired));
    writer.text(4, field.name);
    if (type == Physical::kByteArray) put_annotation(writer, kConvertedUtf8, kStringType);
  });
}

template <class Annotation>
void put_group(ThriftWriter& writer, std::optional<Repetition> repetition, std::string_view name,
               size_t children, const Annotation& annotate) {
  writer.structure([&] {  // SchemaElement
    if (repetition) writer.i32(3, static_cast<int32_t>(*repetition));
    writer.text(4, name);
    writer.i32(5, static_cast<int32_t>(children));
    annotate();
  });
}

// The tree in depth-first order, as parquet::leaves_of() lists its leaves.
void put_schema(ThriftWriter& writer, const RowSchema& schema) {
  const std::span<const RowField> parts = access_row_fields();
  const auto is_list = [](const RowField& field) { return field.kind == FieldKind::kAccesses; };
  const auto lists = static_cast<size_t>(std::ranges::count_if(schema.fields, is_list));
  writer.list(2, ThriftWriter::Type::kStruct,
              1 + schema.fields.size() + lists * (2 + parts.size()));
  const auto nothing = [] {};
  put_group(writer, std::nullopt, schema.name, schema.fields.size(), nothing);
  for (const RowField& field : schema.fields) {
    if (!is_list(field)) {
      put_leaf(writer, field);
      continue;
    }
    put_group(writer, Repetition::kRequired, field.name, 1,
              [&] { put_annotation(writer, kConvertedList, kListType); });
    put_group(writer, Repetition::kRepeated, "list", 1, nothing);
    put_group(writer, Repetition::kRequired, "element", parts.size(), nothing);
    for (const RowField& part : parts) put_leaf(writer, part);
  }
}

// The schema's descriptions, for which Parquet has no field.
void put_docs(ThriftWriter& writer, const RowSchema& schema) {
  const auto pair = [&](std::string_view key, std::string_view value) {
    writer.structure([&] {  // KeyValue
      writer.text(1, key);
      writer.text(2, value);
    });
  };
  writer.list(5, ThriftWriter::Type::kStruct, 1 + schema.fields.size());
  pair("doc", schema.doc);
  for (const RowField& field : schema.fields) pair(fmt::format("doc.{}", field.name), field.doc);
}

void put_chunk(ThriftWriter& writer, const Leaf& leaf, const Chunk& chunk, uint64_t group_begin,
               RowCodec codec) {
  const auto at = [&](uint64_t offset) { return static_cast<int64_t>(group_begin + offset); };
  const bool has_dictionary = chunk.data_begin != chunk.begin;
  writer.structure([&] {  // ColumnChunk
    writer.i64(2, at(chunk.begin));
    writer.structure(3, [&] {  // ColumnMetaData
      writer.i32(1, static_cast<int32_t>(physical_of(leaf.kind)));
      writer.list(2, ThriftWriter::Type::kI32, has_dictionary ? 3 : 2);
      writer.i32(static_cast<int32_t>(parquet::Encoding::kRle));
      writer.i32(static_cast<int32_t>(chunk.encoding));
      if (has_dictionary) writer.i32(static_cast<int32_t>(parquet::Encoding::kPlain));
      writer.list(3, ThriftWriter::Type::kBinary, leaf.path.size());
      for (const std::string& name : leaf.path) writer.text(name);
      writer.i32(4, codec_number(codec));
      writer.i64(5, static_cast<int64_t>(chunk.slots));
      writer.i64(6, static_cast<int64_t>(chunk.plain_bytes));
      writer.i64(7, static_cast<int64_t>(chunk.end - chunk.begin));
      writer.i64(9, at(chunk.data_begin));
      if (has_dictionary) writer.i64(11, at(chunk.begin));
      writer.structure(12, [&] {  // Statistics
        writer.i64(3, static_cast<int64_t>(chunk.nulls));
        if (!chunk.least) return;
        writer.text(5, *chunk.greatest);
        writer.text(6, *chunk.least);
      });
    });
  });
}

}  // namespace

ParquetGroups::ParquetGroups(NewFile file, const RowSchema& schema, RowCodec codec)
    : file_(std::move(file)),
      schema_(schema),
      codec_(codec),
      leaves_(parquet::leaves_of(schema)),
      position_(kParquetMagic.size()) {
  file_.write(kParquetMagic);
}

void ParquetGroups::write(const Block& rows, const Encoder& encoder) {
  file_.write(encoder.bytes());
  groups_.push_back({.begin = position_, .rows = rows.count(), .chunks = encoder.chunks()});
  position_ += encoder.bytes().size();
}

parquet::Bytes ParquetGroups::footer() const {
  parquet::Bytes bytes;
  ThriftWriter writer(bytes);
  writer.structure([&] {  // FileMetaData
    int64_t all = 0;
    for (const Group& group : groups_) all += static_cast<int64_t>(group.rows);
    writer.i32(1, kParquetVersion);
    put_schema(writer, schema_);
    writer.i64(3, all);
    writer.list(4, ThriftWriter::Type::kStruct, groups_.size());
    for (const Group& group : groups_) {
      writer.structure([&] {  // RowGroup
        writer.list(1, ThriftWriter::Type::kStruct, leaves_.size());
        int64_t plain = 0;
        for (size_t i = 0; i < leaves_.size(); i++) {
          put_chunk(writer, leaves_[i], group.chunks[i], group.begin, codec_);
          plain += static_cast<int64_t>(group.chunks[i].plain_bytes);
        }
        writer.i64(2, plain);
        writer.i64(3, static_cast<int64_t>(group.rows));
      });
    }
    put_docs(writer, schema_);
    writer.text(6, kParquetCreator);
    // Numbers are compared with their sign, texts by their bytes (parquet.thrift, ColumnOrder).
    writer.list(7, ThriftWriter::Type::kStruct, leaves_.size());
    for (size_t i = 0; i < leaves_.size(); i++) {
      writer.structure([&] { writer.structure(1, [] {}); });
    }
  });
  const uint64_t size = bytes.size();
  parquet::put_plain({&size, 1}, 4, bytes);
  bytes.insert(bytes.end(), kParquetMagic.begin(), kParquetMagic.end());
  return bytes;
}

NewFile ParquetGroups::finish() {
  file_.write(footer());
  return std::move(file_);
}

}  // namespace htmtrace
