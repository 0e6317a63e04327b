// SPDX-License-Identifier: GPL-2.0-or-later
// Decodes and reports random bus traces, and compares the results with the generator's record. The
// generator finds each response's command independently, and has its own tables.
#include "tests/generator/bus_trace.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "cli/traces/nest_choice.h"
#include "cli/traces/nest_counting.h"
#include "cli/traces/nest_reading.h"
#include "core/analysis/nest_hot_spots.h"
#include "core/nest_trace/counter.h"
#include "core/selection/index.h"
#include "core/selection/indexer.h"
#include "output/io/text_output.h"
#include "output/print/nest_printer.h"
#include "output/report/nest_hot_report.h"
#include "tests/unit/rounds.h"
#include "tests/unit/temporary_folder.h"

// A separate namespace, because other tests use the same names for other things.
namespace htmtrace::bus_traces {
namespace {

using generator::BusLine;
using generator::BusTrace;
using generator::Random;
using Bytes = std::vector<std::byte>;
using Format = NestPrinter::Format;

constexpr Format kFormats[] = {Format::kText, Format::kJson, Format::kCsv};

nest::Layout layout_of(bool power8) {
  return power8 ? nest::Layout::kPower8 : nest::Layout::kPower9;
}

const TranslationMap& memory_map() {
  static const TranslationMap map(generator::translation_file(), 0);
  return map;
}

std::string line_text(const BusLine& line, bool power8, Format format) {
  switch (format) {
    case Format::kJson:
      return line.json(power8, "t");
    case Format::kCsv:
      return line.csv(power8, "t");
    default:
      return line.text(power8);
  }
}

template <class Wanted>
std::string expected_text(const std::vector<BusLine>& lines, bool power8, Format format,
                          const Wanted& wanted) {
  std::string text = format == Format::kCsv ? std::string(kNestCsvHeading) : std::string();
  for (const BusLine& line : lines) {
    if (wanted(line)) text += line_text(line, power8, format);
  }
  return text;
}

bool every_line(const BusLine&) {
  return true;
}

// Prints events as `htmtrace decode` does.
class Printed {
 public:
  Printed(nest::Layout layout, Format format, const Selection& selection)
      : printer_(output_, layout, {.format = format, .target = "t"}),
        choice_({.selection = selection, .commands = all_commands_, .map = memory_map()}, layout,
                printer_) {
    if (format == Format::kCsv) output_.put(kNestCsvHeading);
  }
  void event(const nest::Event& event) { choice_.event(event); }
  std::string text() { return std::string(output_.text()); }

 private:
  TextOutput output_ = TextOutput::memory();
  std::vector<std::string> all_commands_;
  NestPrinter printer_;
  NestChoice<NestPrinter> choice_;
};

struct Decoded {
  std::string text;
  nest::Statistics statistics;
  std::optional<nest::Restart> restart;  // the restart position at the requested offset
};

struct Part {
  size_t place = 0;  // text starts at this offset, and a restart is saved there
  const nest::Restart* from = nullptr;
};

Decoded decode(nest::Layout layout, uint8_t engine, const Bytes& trace, Format format, size_t piece,
               const Part& part = {}) {
  const Selection all;
  Printed printed(layout, format, all);
  nest::Decoder decoder(layout, engine);
  if (part.from != nullptr) decoder.begin_at(*part.from);
  Decoded decoded;
  const auto print_ready = [&] {
    const std::span<const nest::Event> ready = decoder.ready();
    for (const nest::Event& event : ready) {
      if (event.offset >= part.place) printed.event(event);
    }
    decoder.drop(ready.size());
  };
  size_t at = part.from != nullptr ? part.place : 0;
  while (at < trace.size()) {
    if (at == part.place) decoded.restart = decoder.restart();
    size_t next = std::min(trace.size(), at + piece);
    if (at < part.place) next = std::min(next, part.place);
    decoder.take(std::span(trace).subspan(at, next - at), at);
    print_ready();
    at = next;
  }
  decoder.finish();
  print_ready();
  decoded.text = printed.text();
  decoded.statistics = decoder.statistics();
  return decoded;
}

void check_counts(const nest::Statistics& found, const generator::BusCounts& made) {
  REQUIRE(found.commands == made.commands);
  REQUIRE(found.unnamed_commands == made.unnamed_commands);
  REQUIRE(found.response_records == made.response_records);
  REQUIRE(found.responses == made.responses);
  REQUIRE(found.matched_responses == made.matched);
  REQUIRE(found.ambiguous_responses == made.ambiguous);
  REQUIRE(found.unnamed_responses == made.unnamed_responses);
  REQUIRE(found.stamp_records == made.stamps);
  REQUIRE(found.filler_records == made.filler);
  REQUIRE(found.timer_disagreements == 0);
}

// Two engines with alternating lines. The expected lines are in time order.
struct TwoEngines {
  explicit TwoEngines(Random& random) {
    std::array<BusTrace, 2> engines;
    for (unsigned i = 0; i < 2; i++) {
      const auto records = static_cast<unsigned>(500 + random.below(3000));
      engines.at(i) = generator::random_bus_trace(random, false, i, records, 1000 + 300 * i);
    }
    constexpr size_t kLineWords = nest::kLineBytes / 8;
    const size_t longest = std::max(engines[0].words.size(), engines[1].words.size());
    std::vector<uint64_t> words;
    for (size_t at = 0; at < longest; at += kLineWords) {
      for (const BusTrace& engine : engines) {
        for (size_t i = at; i < at + kLineWords; i++) {
          words.push_back(i < engine.words.size() ? engine.words.at(i) : 0);
        }
      }
    }
    bytes = generator::bytes_of(words);
    for (unsigned i = 0; i < 2; i++) {
      for (BusLine& line : engines.at(i).lines) {
        const uint64_t own = line.offset / nest::kLineBytes;
        line.offset = (own * 2 + i) * nest::kLineBytes + line.offset % nest::kLineBytes;
      }
    }
    const auto earlier = [](const BusLine& a, const BusLine& b) { return a.time < b.time; };
    std::merge(engines[0].lines.begin(), engines[0].lines.end(), engines[1].lines.begin(),
               engines[1].lines.end(), std::back_inserter(lines), earlier);
  }

  Bytes bytes;
  std::vector<BusLine> lines;
};

std::string as_text(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void write_index(const TemporaryFolder& folder, const ChosenTrace& trace, const Bytes& bytes,
                 uint64_t interval) {
  NestIndexer indexer(nest::Layout::kPower9, 2, interval);
  for (size_t at = 0; at < bytes.size(); at += 512) {
    indexer.take(std::span(bytes).subspan(at, std::min<size_t>(512, bytes.size() - at)));
  }
  NestIndex index = indexer.finish();
  index.file = InputFile::open(trace.path).identity().value();
  folder.write("trace.index", as_text(pack(index)));
}

// Counts the events of a report one at a time.
struct Hot {
  uint64_t count = 0;
  uint64_t retries = 0;
  std::map<std::string, uint64_t> by;
};

struct HotCounter {
  void begin(const ChosenTrace& trace, nest::Layout layout, const TranslationMap& map) {
    spots = std::make_unique<nest::HotSpots>(
        layout, nest::HotSpots::Wishes{.logical = false, .units = {128}, .entries = 4096});
    spots->begin_trace(trace.short_name(), map.owners());
  }
  void seen(const nest::Command& command) { spots->seen(command); }
  void command(const nest::Event& event, const nest::Command& command,
               std::optional<LogicalAddr> la) {
    spots->command(event, command, la);
  }
  std::unique_ptr<nest::HotSpots> spots = {};
};

void check_commands_of(const nest::HotSpots& spots, const nest::HotAddress& found,
                       const Hot& made) {
  std::set<std::string> names;
  for (const auto& place : found.commands.sorted()) {
    const std::string name = nest_command_name(spots.layout(), static_cast<uint32_t>(place.value));
    CAPTURE(name);
    REQUIRE(names.insert(name).second);
    REQUIRE(made.by.contains(name));
    REQUIRE(place.count <= made.by.at(name));
    if (made.by.size() <= 4) REQUIRE(place.count == made.by.at(name));
  }
}

void check_report(const nest::HotSpots& spots, const std::vector<BusLine>& lines) {
  std::map<uint64_t, Hot> hot;
  std::array<uint64_t, nest::TracedBus::kChips> chips{};
  uint64_t commands = 0;
  for (const BusLine& line : lines) {
    if (!line.is_command) continue;
    commands++;
    chips.at(line.group << 4 | line.chip)++;
    if (!line.address) continue;
    Hot& one = hot[*line.address / 128 * 128];
    one.count++;
    one.retries += line.retry ? 1 : 0;
    one.by[line.command_text()]++;
  }
  CHECK(spots.all_commands() == commands);
  CHECK(spots.traces().at(0).chips == chips);
  const auto& table = spots.tables().at(0);
  REQUIRE(table.error() == 0);
  REQUIRE(table.size() == hot.size());
  for (const auto& slot : table.entries()) {
    REQUIRE(slot.entry.count == hot.at(slot.key).count);
    REQUIRE(slot.entry.retries == hot.at(slot.key).retries);
    check_commands_of(spots, slot.entry, hot.at(slot.key));
  }
}

}  // namespace

TEST_CASE("a random bus trace decodes to the generated events") {
  for (const bool power8 : {true, false}) {
    generator::BusCounts sum;
    std::set<std::string_view> names, retries;
    std::set<unsigned> ports;
    for (uint64_t seed = 0; seed < rounds(20); seed++) {
      CAPTURE(power8);
      CAPTURE(seed);
      Random random(seed);
      const auto engine = static_cast<uint8_t>(power8 ? 0 : random.below(2));
      const BusTrace made = generator::random_bus_trace(
          random, power8, engine, 3000, power8 ? 0 : random.below(uint64_t{1} << 35));
      const Bytes bytes = generator::bytes_of(made.words);
      const nest::Layout layout = layout_of(power8);
      const Format format = kFormats[seed % 3];
      const std::string expected = expected_text(made.lines, power8, format, every_line);
      const Decoded whole = decode(layout, engine, bytes, format, bytes.size());
      REQUIRE(whole.text == expected);
      check_counts(whole.statistics, made.counts);
      const size_t piece = nest::kRecordBytes * (1 + random.below(100));
      REQUIRE(decode(layout, engine, bytes, format, piece).text == expected);
      nest::Counter counter(layout, engine, memory_map());
      counter.take(bytes);
      check_counts(counter.statistics(), made.counts);

      Part part{.place = random.below(made.words.size() / 2) * nest::kRecordBytes};
      const Decoded head = decode(layout, engine, bytes, format, piece, part);
      const std::string tail = expected_text(made.lines, power8, format, [&](const BusLine& line) {
        return line.offset >= part.place;
      });
      REQUIRE(head.text == tail);
      if (part.place != 0 && head.restart) {
        part.from = &*head.restart;
        REQUIRE(decode(layout, engine, bytes, format, piece, part).text == tail);
      }

      sum.matched += made.counts.matched;
      sum.ambiguous += made.counts.ambiguous;
      sum.unnamed_commands += made.counts.unnamed_commands;
      for (const BusLine& line : made.lines) {
        if (line.is_command) names.insert(line.name);
        if (line.retry) retries.insert(line.response_name);
        if (line.is_command && line.response) ports.insert(line.port);
      }
    }
    // The traces contain all names.
    CHECK(names.size() == nest::names_of(layout_of(power8)).rows().size() + 1);
    CHECK(ports.size() == (power8 ? 2 : 4));
    CHECK(retries.contains("addr_ack_rty"));
    CHECK(retries.contains("ack_rty") == !power8);
    CHECK(retries.contains("target:rty_long") == !power8);
    CHECK(retries.contains("target:rty_short") == !power8);
    CHECK(sum.ambiguous > rounds(300));
    CHECK(sum.matched - sum.ambiguous > rounds(300));
    CHECK(sum.unnamed_commands > 0);
  }
}

TEST_CASE("a random bus trace of two engines, whole and by its index") {
  const TemporaryFolder folder;
  const ChosenTrace trace{.path = folder.path() / "trace", .place = {}, .type = {}};
  for (uint64_t seed = 0; seed < rounds(10); seed++) {
    CAPTURE(seed);
    Random random(seed);
    const TwoEngines made(random);
    folder.write("trace", as_text(made.bytes));
    const Format format = kFormats[seed % 3];
    const auto read = [&](const Selection& selection, bool narrow) {
      NestReading reading(trace, nest::Layout::kPower9);
      if (narrow) REQUIRE(reading.narrow(trace, selection));
      Printed printed(nest::Layout::kPower9, format, selection);
      while (reading.advance(printed)) {
      }
      return printed.text();
    };
    REQUIRE(read({}, false) == expected_text(made.lines, false, format, every_line));
    write_index(folder, trace, made.bytes, 1 + random.below(6000));
    for (int i = 0; i < 2; i++) {
      const uint64_t first = 1000 + random.below(made.lines.back().time);
      Selection selection;
      selection.ticks = {first, random.chance(300) ? Selection::kAny : first + random.below(3000)};
      const std::string expected =
          expected_text(made.lines, false, format, [&](const BusLine& line) {
            return line.time >= selection.ticks.first && line.time <= selection.ticks.last;
          });
      REQUIRE(read(selection, false) == expected);
      REQUIRE(read(selection, true) == expected);
    }
  }
}

TEST_CASE("a report of a random bus trace equals counting each event") {
  const TemporaryFolder folder;
  const ChosenTrace trace{.path = folder.path() / "trace", .place = {}, .type = {}};
  for (uint64_t seed = 0; seed < rounds(10); seed++) {
    CAPTURE(seed);
    Random random(seed);
    const bool power8 = seed % 2 == 1;
    std::vector<BusLine> lines;
    if (power8) {
      const BusTrace made = generator::random_bus_trace(random, true, 0, 6000, 0);
      folder.write("trace", as_text(generator::bytes_of(made.words)));
      lines = made.lines;
    } else {
      const TwoEngines made(random);
      folder.write("trace", as_text(made.bytes));
      lines = made.lines;
    }
    TraceOptions options;
    options.nest.layout = layout_of(power8);
    HotCounter counter;
    const NestCount count = count_nest({trace}, options, counter);
    counter.spots->finish();
    CHECK(count.totals.commands == counter.spots->all_commands());
    check_report(*counter.spots, lines);
  }
}

}  // namespace htmtrace::bus_traces
