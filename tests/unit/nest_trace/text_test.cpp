// SPDX-License-Identifier: GPL-2.0-or-later
// Compares lines of bus events with lines that are built field by field.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <sstream>
#include <string>
#include <vector>

#include "core/nest_trace/units.h"
#include "output/print/nest_fields.h"
#include "output/print/nest_printer.h"
#include "output/print/nest_text.h"
#include "tests/generator/generated_trace.h"
#include "tests/unit/rounds.h"

namespace htmtrace {
namespace {

using nest::Event;
using nest::Layout;

std::string beginning(const Event& event) {
  return fmt::format("time={} engine={} command=", event.time, event.engine);
}

template <class Place>
std::string place_text(Layout layout, unsigned port, const Place& place, unsigned group,
                       unsigned chip) {
  return fmt::format(" scope={} port={} group={} chip={} ticket={:02x}",
                     nest_scope_name(layout, place.scope), port, group, chip, place.ticket);
}

std::string expected_line(Layout layout, const Event& event, std::optional<LogicalAddr> la) {
  if (event.kind == Event::Kind::kResponse) {
    const nest::Response r = nest::response_of(layout, event.record, event.slot);
    return beginning(event) + "-" + place_text(layout, event.port, r, r.group, r.chip) +
           fmt::format(" response={:02x}\n", r.code);
  }
  const nest::Command c = nest::command_of(layout, event.record);
  const nest::Names& names = nest::names_of(layout);
  const nest::CommandName& name = names.command(c.ttype, c.tsize);
  const std::string unknown(16, '-');
  std::string line =
      beginning(event) +
      (name.name.empty() ? fmt::format("{:02x}{:02x}", c.ttype, c.tsize) : std::string(name.name));
  const bool has_address = name.port == nest::PortRule::kAddress;
  line += " ra=" + (has_address ? fmt::format("{:016x}", c.address) : unknown);
  line += " la=" + (la ? fmt::format("{:016x}", la->value) : unknown);
  line += place_text(layout, event.port, c, c.tag.group, c.tag.chip);
  line += fmt::format(" unit={:03x}:{} transaction={:02x} tsize={:02x} response=", c.tag.unit,
                      nest::unit_name(layout, c.tag.unit), c.tag.transaction, c.tsize);
  if (!event.has_response) return line + "-\n";
  const std::string_view response = names.response(name.response, event.response);
  return line + (response.empty() ? fmt::format("{:02x}\n", event.response)
                                  : fmt::format("{}\n", response));
}

std::string line_of(NestText& text, const Event& event, std::optional<LogicalAddr> la) {
  std::vector<char> room(NestText::kMost, 'x');
  return {room.data(), text.put(room.data(), event, la)};
}

uint64_t next_time(uint64_t time, generator::Random& random) {
  switch (random.below(20)) {
    case 0:
      return random.next() >> random.below(64);
    case 1:
      return time - random.below(20000);
    case 2:
      return random.below(20000);
    default:
      return time + random.below(3000);
  }
}

}  // namespace

TEST_CASE("lines of bus events have every field") {
  for (const Layout layout : {Layout::kPower8, Layout::kPower9}) {
    NestText text(layout);
    generator::Random random(static_cast<uint64_t>(layout));
    Event event;
    for (unsigned i = 0; i < rounds(60000); i++) {
      event.record = {random.next() | uint64_t{1} << 63, random.next()};
      event.kind = random.chance(200) ? Event::Kind::kResponse : Event::Kind::kCommand;
      event.time = next_time(event.time, random);
      event.engine = static_cast<uint8_t>(random.below(2));
      event.port = static_cast<uint8_t>(random.below(4));
      event.slot = layout == Layout::kPower8 ? 40 : 32;
      event.has_response = random.chance(600);
      event.response = static_cast<uint8_t>(random.below(nest::kResponseCodes));
      std::optional<LogicalAddr> la;
      if (random.chance(500)) la = LogicalAddr{random.next()};
      REQUIRE(line_of(text, event, la) == expected_line(layout, event, la));
    }
  }
}

TEST_CASE("the smallest and largest times are printed correctly") {
  NestText text(Layout::kPower9);
  Event event;
  event.kind = Event::Kind::kCommand;
  event.record = {uint64_t{1} << 63, 0};
  for (const uint64_t time :
       {uint64_t{0}, uint64_t{9999}, uint64_t{10000}, uint64_t{19999}, uint64_t{5},
        uint64_t{99999999}, uint64_t{100000000}, ~uint64_t{0}, uint64_t{3}, ~uint64_t{0} - 3000,
        uint64_t{1} << 63, (uint64_t{1} << 63) + 1, uint64_t{12000}}) {
    event.time = time;
    CHECK(line_of(text, event, std::nullopt) ==
          expected_line(Layout::kPower9, event, std::nullopt));
  }
}

TEST_CASE("a line has the fields in the order of the table") {
  NestText text(Layout::kPower9);
  Event event;
  event.kind = Event::Kind::kCommand;
  std::istringstream words(line_of(text, event, std::nullopt));
  std::vector<std::string> names;
  for (std::string word; words >> word;) names.push_back(word.substr(0, word.find('=')));
  const auto& fields = kFieldIds<NestField, &EventField<NestField>::text>;
  std::vector<std::string> expected;
  expected.reserve(fields.size());
  for (const NestField field : fields) {
    expected.emplace_back(field_of(field).text.name);
  }
  CHECK(names == expected);
}

TEST_CASE("the room of a buffer holds the longest JSON object") {
  TextOutput output = TextOutput::memory();
  NestPrinter printer(output, Layout::kPower8,
                      {.format = NestPrinter::Format::kJson, .target = "t"});
  Event event;
  event.kind = Event::Kind::kCommand;
  event.record = {~uint64_t{0}, ~uint64_t{0}};
  event.offset = event.time = ~uint64_t{0};
  event.engine = 255;
  event.has_response = true;
  printer.event(event, LogicalAddr{0});
  // This command has no name. The longest names have 36 and 23 characters.
  CHECK(output.text().find("\"response_code\":") != std::string_view::npos);
  constexpr std::string_view kNames = R"(,"command":"","response":"")";
  CHECK(output.text().size() + kNames.size() + 36 + 23 < TextOutput::kRoom);
}

TEST_CASE("every name fits its piece") {
  for (const Layout layout : {Layout::kPower8, Layout::kPower9}) {
    const nest::Names& names = nest::names_of(layout);
    for (const nest::CommandRow& row : names.rows()) CHECK(row.name.size() + 4 <= 40);
    for (unsigned i = 0; i < nest::kResponseClasses; i++) {
      for (unsigned code = 0; code < nest::kResponseCodes; code++) {
        CHECK(names.response(static_cast<nest::ResponseClass>(i), code).size() + 1 <= 24);
      }
    }
    for (unsigned unit = 0; unit < 1024; unit++) {
      CHECK(nest::unit_name(layout, unit).size() + 23 <= 40);
    }
  }
}

}  // namespace htmtrace
