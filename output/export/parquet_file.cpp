// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/export/parquet_file.h"

#include <arrow/api.h>
#include <arrow/io/file.h>
#include <fcntl.h>
#include <parquet/arrow/writer.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"

namespace htmtrace {
namespace {

// Engines read groups in parallel, and skip groups whose statistics exclude the requested rows. A
// group stays in memory until it is written, and takes about 20 MiB.
constexpr int64_t kGroupRows = 1 << 17;

std::shared_ptr<arrow::DataType> type_of(const RowField& field);

std::shared_ptr<arrow::Field> arrow_field(const RowField& field) {
  return arrow::field(std::string(field.name), type_of(field), field.optional,
                      arrow::key_value_metadata({{"doc", std::string(field.doc)}}));
}

std::vector<std::shared_ptr<arrow::Field>> arrow_fields(std::span<const RowField> fields) {
  std::vector<std::shared_ptr<arrow::Field>> all;
  for (const RowField& field : fields) all.push_back(arrow_field(field));
  return all;
}

std::shared_ptr<arrow::DataType> type_of(const RowField& field) {
  switch (field.kind) {
    case FieldKind::kLong:
      return arrow::int64();
    case FieldKind::kInt:
      return arrow::int32();
    case FieldKind::kText:
      return arrow::utf8();
    case FieldKind::kName:
      return arrow::dictionary(arrow::int8(), arrow::utf8());
    case FieldKind::kAccesses:
      break;
  }
  return arrow::list(
      arrow::field("element", arrow::struct_(arrow_fields(access_row_fields())), false));
}

// A name is collected as its number.
std::shared_ptr<arrow::DataType> collected_type(const RowField& field) {
  return field.kind == FieldKind::kName ? arrow::int8() : type_of(field);
}

// Writes numbers that mostly increase in small steps as differences.
std::shared_ptr<parquet::WriterProperties> properties_of(const RowSchema& schema) {
  parquet::WriterProperties::Builder properties;
  properties.compression(parquet::Compression::ZSTD)->max_row_group_length(kGroupRows);
  for (const RowField& field : schema.fields) {
    if (field.kind != FieldKind::kLong || field.optional) continue;
    const std::string name(field.name);
    properties.disable_dictionary(name)->encoding(name, parquet::Encoding::DELTA_BINARY_PACKED);
  }
  return properties.build();
}

}  // namespace

struct ParquetFile::Library {
  struct Column {
    FieldKind kind;
    std::unique_ptr<arrow::ArrayBuilder> values;
    std::shared_ptr<arrow::Array> names;  // for kName
  };

  Library(NewFile created, const RowSchema& wanted) : output(std::move(created)), schema(wanted) {}
  // An unfinished file has no footer, so no reader accepts it as complete.
  ~Library() {
    if (file != nullptr) static_cast<void>(file->Close());
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  void check(const arrow::Status& status) const {
    if (status.ok()) return;
    const std::string why =
        status.detail() ? status.message() + ", " + status.detail()->ToString() : status.message();
    throw Error("cannot write " + output.path().string() + ": " + why);
  }
  template <class Result>
  auto value_of(Result result) const {
    check(result.status());
    return std::move(result).ValueUnsafe();
  }

  void open();
  Column column_of(const RowField& field) const;
  arrow::ArrayBuilder* next() { return columns[next_field++].values.get(); }
  template <class Builder>
  void put(arrow::ArrayBuilder* values, auto value) const {
    check(static_cast<Builder*>(values)->Append(value));
  }
  void put_number(uint64_t value);
  void write_group();

  NewFile output;
  const RowSchema& schema;
  std::shared_ptr<arrow::Schema> types;
  std::shared_ptr<arrow::io::FileOutputStream> file;
  std::unique_ptr<parquet::arrow::FileWriter> writer;
  std::vector<Column> columns;
  size_t next_field = 0;   // index in the current row
  int64_t group_rows = 0;  // rows in the current group
};

bool ParquetFile::can_write() {
  return true;
}

void ParquetFile::Library::open() {
  const int fd = ::fcntl(output.fd(), F_DUPFD_CLOEXEC, 0);  // Arrow closes it
  if (fd < 0) throw Error("cannot write " + output.path().string(), errno);
  auto opened = arrow::io::FileOutputStream::Open(fd);
  if (!opened.ok()) ::close(fd);
  file = value_of(std::move(opened));
  types = arrow::schema(arrow_fields(schema.fields),
                        arrow::key_value_metadata({{"name", std::string(schema.name)},
                                                   {"doc", std::string(schema.doc)}}));
  writer = value_of(parquet::arrow::FileWriter::Open(
      *types, arrow::default_memory_pool(), file, properties_of(schema),
      parquet::ArrowWriterProperties::Builder().store_schema()->build()));
  for (const RowField& field : schema.fields) columns.push_back(column_of(field));
}

ParquetFile::Library::Column ParquetFile::Library::column_of(const RowField& field) const {
  Column column{.kind = field.kind, .values = {}, .names = {}};
  column.values = value_of(arrow::MakeBuilder(collected_type(field)));
  arrow::StringBuilder names;
  for (const std::string_view name : field.names) check(names.Append(name));
  if (field.kind == FieldKind::kName) column.names = value_of(names.Finish());
  return column;
}

void ParquetFile::Library::put_number(uint64_t value) {
  const FieldKind kind = columns[next_field].kind;
  arrow::ArrayBuilder* const values = next();
  if (kind == FieldKind::kLong) {
    put<arrow::Int64Builder>(values, static_cast<int64_t>(value));
  } else if (kind == FieldKind::kInt) {
    put<arrow::Int32Builder>(values, static_cast<int32_t>(value));
  } else {
    put<arrow::Int8Builder>(values, static_cast<int8_t>(value));
  }
}

void ParquetFile::Library::write_group() {
  std::vector<std::shared_ptr<arrow::Array>> arrays;
  for (size_t i = 0; i < columns.size(); i++) {
    const Column& column = columns[i];
    std::shared_ptr<arrow::Array> array = value_of(column.values->Finish());
    if (column.kind == FieldKind::kName) {
      const auto& type = types->field(static_cast<int>(i))->type();
      array = value_of(arrow::DictionaryArray::FromArrays(type, array, column.names));
    }
    arrays.push_back(std::move(array));
  }
  const auto table = arrow::Table::Make(types, arrays, group_rows);
  check(writer->WriteTable(*table, kGroupRows));
  group_rows = 0;
}

ParquetFile::ParquetFile(NewFile file, const RowSchema& schema, const Options&)
    : library_(std::make_unique<Library>(std::move(file), schema)) {
  library_->open();
}

ParquetFile::~ParquetFile() = default;

void ParquetFile::number(uint64_t value) {
  library_->put_number(value);
}

void ParquetFile::optional(bool known, uint64_t value) {
  if (known) return library_->put_number(value);
  library_->check(library_->next()->AppendNull());
}

void ParquetFile::text(std::string_view text) {
  library_->put<arrow::StringBuilder>(library_->next(), text);
}

void ParquetFile::optional_text(std::string_view text) {
  if (!text.empty()) return this->text(text);
  library_->check(library_->next()->AppendNull());
}

void ParquetFile::accesses(std::span<const DataAccess> accesses) {
  auto* const list = static_cast<arrow::ListBuilder*>(library_->next());
  auto* const element = static_cast<arrow::StructBuilder*>(list->value_builder());
  library_->check(list->Append());
  const auto put = [&](int child, bool known, uint64_t value) {
    auto* const values = static_cast<arrow::Int64Builder*>(element->field_builder(child));
    library_->check(known ? values->Append(static_cast<int64_t>(value)) : values->AppendNull());
  };
  for (const DataAccess& access : accesses) {
    library_->check(element->Append());
    put(0, true, access.ea.value);
    put(1, access.has_ra, access.ra.value);
    put(2, access.has_la, access.la.value);
  }
}

void ParquetFile::end_row() {
  library_->next_field = 0;
  if (++library_->group_rows == kGroupRows) library_->write_group();
}

NewFile ParquetFile::finish() {
  if (library_->group_rows != 0) library_->write_group();
  library_->check(library_->writer->Close());
  const auto file = std::exchange(library_->file, nullptr);
  library_->check(file->Close());
  return std::move(library_->output);
}

}  // namespace htmtrace
