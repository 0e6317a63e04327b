// SPDX-License-Identifier: GPL-2.0-or-later
// Other programs' parsers read the JSON Lines and CSV, which must match the decoded events.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "output/io/csv_field.h"
#include "output/io/input_file.h"
#include "output/print/csv_printer.h"
#include "output/print/field_list.h"
#include "output/print/json_printer.h"
#include "output/print/text_printer.h"
#include "tests/encoder/power10.h"
#include "tests/generator/generated_trace.h"
#include "tests/unit/decoded_text.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {
namespace {

using nlohmann::json;

// Feeds `trace` into the printer that `make` creates for an output, and returns the printed lines.
template <class Make>
std::vector<std::string> lines_printed(std::span<const std::byte> trace, const Make& make) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "text";
  TextOutput output = TextOutput::create(path, Existing::kReplace);
  auto printer = make(output);
  const TranslationMap map(generator::translation_file(), 0);
  CoreDecoder decoder(map, printer);
  decoder.feed(trace);
  decoder.finish();
  output.finish();
  const std::vector<std::byte> bytes = InputFile::open(path).read_all(1 << 26);
  std::vector<std::string> lines;
  std::string line;
  for (const std::byte byte : bytes) {
    if (byte == std::byte{'\n'}) {
      lines.push_back(std::exchange(line, {}));
    } else {
      line += static_cast<char>(byte);
    }
  }
  CHECK(line.empty());
  return lines;
}

std::vector<std::byte> random_trace() {
  std::vector<uint64_t> words;
  generator::Power10Program program(9, {});
  for (int i = 0; i < 3000; i++) program.next(words, false);
  return generator::bytes_of(words);
}

// One instruction that has all fields.
std::vector<std::byte> longest_instruction() {
  std::vector<uint64_t> words(kPower10IearaWords);
  power10_ieara(words.data(), 0xc000000000000000, generator::real_of_logical(0));
  words.push_back(power10_info(0xf8000000, 0xc000000000000000, false, true, kPower10TwoPairs));
  words.push_back(0xffc0000000000000);  // all modes
  words.push_back(power10_prefix(0x04000000));
  for (int i = 0; i < 2; i++) {
    words.push_back(0xc0000000ffffffff);
    words.push_back(power10_dra(generator::real_of_logical(0)));
  }
  return generator::bytes_of(words);
}

// The names of all fields in a line of text.
template <class Id>
std::vector<std::string> text_names() {
  const auto& ids = kFieldIds<Id, &EventField<Id>::text>;
  std::vector<std::string> names;
  names.reserve(ids.size());
  for (const Id id : ids) {
    names.emplace_back(field_of(id).text.name);
  }
  return names;
}

std::string bare(const json& object, const char* key) {
  const auto text = object.value(key, std::string("0x----------------"));
  REQUIRE(text.size() == 18);
  return text.substr(2);
}

// Returns the line of text that matches an object.
std::string as_text(const json& object) {
  std::string line = "ea=" + bare(object, "ea") + " op=" + object.value("op", "--------") +
                     " ra=" + bare(object, "ra") + " la=" + bare(object, "la");
  for (const json& data : object.value("data", json::array())) {
    line += " dea=" + bare(data, "ea") + " dra=" + bare(data, "ra") + " dla=" + bare(data, "la");
  }
  return line;
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (const char character : line) {
    if (character == '"') {
      quoted = !quoted;
    } else if (character == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += character;
    }
  }
  return fields;
}

std::string column(const std::vector<std::string>& fields, size_t place) {
  const std::string& field = fields.at(place);
  return field.empty() ? std::string(16, '-') : field.substr(2);
}

}  // namespace

TEST_CASE("JSON Lines match the text, with stamps in between") {
  const std::vector<std::byte> trace = random_trace();
  const LineSink expected =
      decode_lines(trace, TranslationMap(generator::translation_file(), 0)).lines;
  const std::vector<std::string> lines = lines_printed(
      trace, [](TextOutput& output) { return JsonPrinter(output, "n0.p1.c2", true); });
  REQUIRE(lines.size() == expected.all.size());
  size_t instructions = 0;
  for (const std::string& line : lines) {
    const json object = json::parse(line);
    CHECK(object.at("target") == "n0.p1.c2");
    if (object.at("type") == "stamp") {
      CHECK(object.at("kind").is_string());
      continue;
    }
    REQUIRE(as_text(object) == expected.instructions.at(instructions++));
    const bool user = object.at("privilege") == "user";
    CHECK(user == (object.at("ea").get<std::string>()[2] < 'c'));
    CHECK(object.at("modes").get<std::string>().ends_with("sf"));
  }
  CHECK(instructions == expected.instructions.size());
}

TEST_CASE("CSV matches the text") {
  const std::vector<std::byte> trace = random_trace();
  const LineSink expected =
      decode_lines(trace, TranslationMap(generator::translation_file(), 0)).lines;
  const std::vector<std::string> lines =
      lines_printed(trace, [](TextOutput& output) { return CsvPrinter(output, "a,\"b"); });
  REQUIRE(lines.size() == expected.instructions.size());
  const size_t columns = fields_of(std::string(kCsvHeading)).size();
  for (size_t i = 0; i < lines.size(); i++) {
    REQUIRE(lines.at(i).starts_with("\"a,\"\"b\","));
    const std::vector<std::string> fields = fields_of(lines.at(i));
    REQUIRE(fields.size() == columns);
    std::string text = "ea=" + column(fields, 2) + " op=" + fields.at(3) +
                       " ra=" + column(fields, 4) + " la=" + column(fields, 5);
    for (const size_t place : {9, 12}) {
      if (fields.at(place).empty()) continue;
      text += " dea=" + column(fields, place) + " dra=" + column(fields, place + 1) +
              " dla=" + column(fields, place + 2);
    }
    REQUIRE(text == expected.instructions.at(i));
  }
}

TEST_CASE("a line of text has the fields in the order of the tables") {
  SymbolTable symbols;
  symbols.finish();
  const std::vector<std::string> lines =
      lines_printed(longest_instruction(), [&](TextOutput& output) {
        return TextPrinter(output, {.modes = true, .symbols = &symbols});
      });
  REQUIRE(lines.size() == 1);
  std::vector<std::string> of_instruction, of_accesses;
  std::istringstream words(lines.front());
  for (std::string word; words >> word;) {
    const std::string name = word.substr(0, word.find('='));
    (name.starts_with('d') ? of_accesses : of_instruction).push_back(name);
  }
  std::vector<std::string> expected = text_names<InstructionField>();
  REQUIRE(expected.back() == "asm");  // only with --disassemble
  expected.pop_back();
  CHECK(of_instruction == expected);
  const std::vector<std::string> access = text_names<AccessField>();
  REQUIRE(access.size() == 4);
  CHECK(of_accesses == std::vector{access[0], access[1], access[2], access[0], access[1], access[2],
                                   access[3], access[3]});
}

TEST_CASE("every format has room for the longest instruction") {
  const std::vector<std::byte> trace = longest_instruction();
  const std::string modes = "hv,pr,ir,dr,ee,s,ts,le,sf";
  auto one = [&](const auto& make) {
    const std::vector<std::string> lines = lines_printed(trace, make);
    REQUIRE(lines.size() == 1);
    CHECK(lines.front().size() < TextOutput::kRoom);
    CHECK(lines.front().find(modes) != std::string::npos);
    return lines.front();
  };
  one([](TextOutput& output) { return JsonPrinter(output, "t", false); });
  one([](TextOutput& output) { return CsvPrinter(output, "t"); });
  const std::string text =
      one([](TextOutput& output) { return TextPrinter(output, {.modes = true}); });
  CHECK(text.ends_with(" privilege=user modes=" + modes));
}

TEST_CASE("names of addresses may be longer than the room of a buffer") {
  std::vector<uint64_t> words;
  generator::Power10Program program(9, {});
  while (words.size() < 100) program.next(words, false);
  const std::vector<std::byte> trace = generator::bytes_of(words);
  const auto bare =
      lines_printed(trace, [](TextOutput& output) { return JsonPrinter(output, "t", false); });
  // Each accessed page is a symbol.
  const std::string name = std::string(70000, 'n') + "\"";
  std::set<uint64_t> pages;
  const auto address = [](const json& object) {
    return std::stoull(object.at("ea").get<std::string>(), nullptr, 16);
  };
  for (const std::string& line : bare) {
    const json object = json::parse(line);
    if (object.contains("ea")) pages.insert(address(object) & ~0xfffULL);
    for (const json& data : object.value("data", json::array())) {
      pages.insert(address(data) & ~0xfffULL);
    }
  }
  SymbolTable symbols;
  for (const uint64_t page : pages) symbols.add({page, 0x1000, name});
  symbols.finish();
  const auto place = [&](const json& object) {
    const uint64_t distance = address(object) & 0xfff;
    return distance == 0 ? name : fmt::format("{}+{:#x}", name, distance);
  };
  const auto text = lines_printed(
      trace, [&](TextOutput& output) { return TextPrinter(output, {.symbols = &symbols}); });
  const auto objects = lines_printed(
      trace, [&](TextOutput& output) { return JsonPrinter(output, "t", false, &symbols); });
  const auto rows =
      lines_printed(trace, [&](TextOutput& output) { return CsvPrinter(output, "t", &symbols); });
  REQUIRE(objects.size() == bare.size());
  size_t data_names = 0;
  for (size_t i = 0; i < bare.size(); i++) {
    const json object = json::parse(objects.at(i));
    std::string fields, columns;
    if (object.contains("ea")) {
      CHECK(object.at("symbol") == place(object));
      fields = " sym=" + place(object);
      columns = "," + csv_field(place(object));
    } else {
      fields = " sym=-";
      columns = ",";
    }
    const json accesses = object.value("data", json::array());
    for (const json& data : accesses) {
      CHECK(data.at("symbol") == place(data));
      fields += " dsym=" + place(data);
      columns += "," + csv_field(place(data));
      data_names++;
    }
    CHECK(text.at(i) == as_text(object) + fields);
    CHECK(rows.at(i).ends_with(columns + std::string(2 - accesses.size(), ',')));
  }
  CHECK(data_names > 3);
}

TEST_CASE("names of targets are quoted in the syntax of each format") {
  CHECK(csv_field("n0.p0.c1") == "n0.p0.c1");
  CHECK(csv_field("a\"b") == "\"a\"\"b\"");
  const std::vector<std::string> lines = lines_printed(
      random_trace(), [](TextOutput& output) { return JsonPrinter(output, "a\"\xff\n", false); });
  CHECK(json::parse(lines.front()).at("target") == "a\"\ufffd\n");
}

}  // namespace htmtrace
