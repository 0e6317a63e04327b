// SPDX-License-Identifier: GPL-2.0-or-later
// Tests files of rows for engines: Avro's encoding by the examples of its specification, its
// schemas as JSON, and the division into parts.
#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "output/export/avro_file.h"
#include "output/export/parquet_file.h"
#include "output/export/row_parts.h"
#include "tests/unit/file_size_limit.h"
#include "tests/unit/message_of.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {

TEST_CASE("numbers and texts are encoded as in Avro's specification") {
  const auto encoded = [](auto put) {
    AvroRow row;
    put(row);
    return std::string(row.bytes().begin(), row.bytes().end());
  };
  const auto number = [&](int64_t value) {
    return encoded([&](AvroRow& row) { row.number(static_cast<uint64_t>(value)); });
  };
  // "Primitive Types": the table of zigzag numbers.
  CHECK(number(0) == std::string(1, '\0'));
  CHECK(number(-1) == "\x01");
  CHECK(number(1) == "\x02");
  CHECK(number(-64) == "\x7f");
  CHECK(number(64) == "\x80\x01");
  CHECK(number(INT64_MIN) == "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
  CHECK(encoded([](AvroRow& row) { row.text("foo"); }) ==
        "\x06"
        "foo");
  // "Unions": null is 00, the string "a" 02 02 61. "Arrays": 04 06 36 00 are 3 and 27.
  CHECK(encoded([](AvroRow& row) { row.null(); }) == std::string(1, '\0'));
  CHECK(encoded([](AvroRow& row) {
          row.present();
          row.text("a");
        }) ==
        "\x02\x02"
        "a");
  CHECK(encoded([](AvroRow& row) { row.optional_text("a"); }) ==
        "\x02\x02"
        "a");
  CHECK(encoded([](AvroRow& row) { row.optional_text(""); }) == std::string(1, '\0'));
  CHECK(encoded([](AvroRow& row) {
          row.elements(2);
          row.number(3);
          row.number(27);
          row.no_more();
        }) == std::string("\x04\x06\x36\x00", 4));
  CHECK(encoded([](AvroRow& row) {
          row.elements(0);
          row.no_more();
        }) == std::string(1, '\0'));
}

TEST_CASE("the schemas are JSON, and every field describes itself") {
  for (const std::string& text : {avro_schema(core_row_schema()), avro_schema(nest_row_schema())}) {
    const auto schema = nlohmann::json::parse(text);
    CHECK(schema.at("type") == "record");
    CHECK(schema.at("fields").size() >= 12);
    for (const auto& field : schema.at("fields"))
      CHECK_FALSE(field.at("doc").get<std::string>().empty());
  }
}

TEST_CASE("a new file begins at each time window and after the limit of rows") {
  const TemporaryFolder folder;
  const RowSchema schema{
      .name = "one", .doc = "a number", .fields = {{.name = "ticks", .doc = "time"}}};
  const auto put = [](RowParts<AvroFile>& parts, uint64_t ticks) {
    parts.begin_row(ticks).number(ticks);
    parts.end_row();
  };
  RowParts<AvroFile> parts(folder.path() / "a", schema, {.rows = 2, .ticks = 100}, {});
  for (const uint64_t ticks : {0, 1, 2, 250, 299, 40}) put(parts, ticks);
  parts.finish();
  CHECK_FALSE(std::filesystem::exists(folder.path() / "a" / "ticks=0" / "part-00000.avro"));
  parts.publish();
  CHECK(parts.rows() == 6);
  CHECK(parts.files() == 4);
  for (const char* name : {"ticks=0/part-00000.avro", "ticks=0/part-00001.avro",
                           "ticks=200/part-00002.avro", "ticks=0/part-00003.avro"}) {
    CHECK(std::filesystem::file_size(folder.path() / "a" / name) > 50);
  }
  RowParts<AvroFile> again(folder.path() / "a", schema, {.ticks = 100}, {});
  CHECK_THROWS_AS(put(again, 1), Error);  // the file exists
  folder.write("a/notes", "not a part");
  RowParts<AvroFile> instead(folder.path() / "a", schema,
                             {.ticks = 100, .existing = Existing::kReplace}, {});
  put(instead, 1);
  instead.finish();
  instead.publish();
  // The parts of the earlier export are gone.
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path() / "a")) {
    names.insert(std::filesystem::relative(entry.path(), folder.path() / "a").string());
  }
  CHECK(names == std::set<std::string>{"notes", "ticks=0", "ticks=0/part-00000.avro"});
}

TEST_CASE_TEMPLATE("the file does not depend on the number of threads", File, AvroFile,
                   ParquetFile) {
  const TemporaryFolder folder;
  const RowSchema schema{
      .name = "one", .doc = "a number", .fields = {{.name = "ticks", .doc = "time"}}};
  for (const RowCodec codec :
       {RowCodec::kNull, RowCodec::kDeflate, RowCodec::kSnappy, RowCodec::kZstandard}) {
    if (!has_row_codec(codec)) continue;
    CAPTURE(row_codec_name(codec));
    std::string expected;
    for (const unsigned threads : {0U, 1U, 3U}) {
      const std::string name = std::string(row_codec_name(codec)) + std::to_string(threads);
      RowParts<File> parts(folder.path() / name, schema, {}, {.codec = codec, .threads = threads});
      for (uint64_t row = 0; row < 300'000; row++) {
        parts.begin_row(0).number(row * row * 0x9e3779b97f4a7c15);  // looks random
        parts.end_row();
      }
      parts.finish();
      parts.publish();
      const std::string content =
          folder.read(name + "/part-00000." + std::string(File::kExtension));
      CHECK(content.size() > 20'000);
      if (threads == 0) expected = content;
      CHECK(content == expected);
    }
  }
}

TEST_CASE_TEMPLATE("a full disk is an error, and leaves no file", File, AvroFile, ParquetFile) {
  const TemporaryFolder folder;
  const RowSchema schema{
      .name = "one", .doc = "a number", .fields = {{.name = "ticks", .doc = "time"}}};
  for (const auto& wish : {std::pair(1U, 0U), {100'000U, 0U}, {1U, 2U}, {300'000U, 2U}}) {
    const unsigned rows = wish.first;
    const unsigned threads = wish.second;
    CAPTURE(rows);
    CAPTURE(threads);
    RowParts<File> parts(folder.path() / "a", schema, {}, {.threads = threads});
    const FileSizeLimit limit(100);
    const auto write = [&] {
      for (uint64_t row = 0; row < rows; row++) {
        parts.begin_row(0).number(row * 1'000'003);
        parts.end_row();
      }
      parts.finish();
    };
    CHECK(message_of(write) == "cannot write " + (folder.path() / "a" / "part-00000.").string() +
                                   std::string(File::kExtension) + ": File too large");
  }
  CHECK(std::filesystem::is_empty(folder.path() / "a"));
}

}  // namespace htmtrace
