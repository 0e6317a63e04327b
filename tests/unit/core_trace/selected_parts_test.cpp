// SPDX-License-Identifier: GPL-2.0-or-later
// Compares selections and analyses of parts with those of one thread.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/heat_maps.h"
#include "core/analysis/timeline.h"
#include "core/memory_map/translation.h"
#include "output/print/open_parts.h"
#include "output/print/parallel_decode.h"
#include "output/print/part_sink.h"
#include "output/print/selected_printer.h"
#include "output/print/selecting_sink.h"
#include "output/print/text_printer.h"
#include "output/report/heat_map_report.h"
#include "output/report/timeline_report.h"
#include "tests/damage/part_streams.h"
#include "tests/encoder/power10.h"
#include "tests/generator/generated_trace.h"
#include "tests/unit/rounds.h"

namespace htmtrace {
namespace {

using generator::Random;

constexpr ParallelLimits kSmallParts = {.part_bytes = 4096, .feed_bytes = 4096};

std::vector<std::byte> random_trace(Random& random) {
  generator::Power10Program program(random.next(), {.stamps_per_mille = 50});
  std::vector<uint64_t> words{power10_record(0)};
  const uint64_t most = random.below(40000);
  while (words.size() < most) {
    if (random.chance(10)) {
      words.push_back(power10_mark(3, 2, 0x155, static_cast<uint16_t>(random.below(3)), false));
    }
    // Damage, which a part cannot follow.
    if (random.chance(2)) words.push_back(random.next());
    program.next(words, false);
  }
  return generator::bytes_of(words);
}

Selection random_selection(Random& random) {
  const auto range = [&](uint64_t most) -> AddressRange {
    const uint64_t first = random.below(most);
    return {first, random.chance(300) ? Selection::kAny : first + random.below(most)};
  };
  Selection selection;
  if (random.chance(400)) selection.numbers = range(10000);
  if (random.chance(200)) selection.ticks = range(10000);
  if (random.chance(150)) selection.from_mark = static_cast<unsigned>(random.below(3));
  if (random.chance(150)) selection.to_mark = static_cast<unsigned>(random.below(3));
  if (random.chance(200)) selection.first = random.below(10000);
  if (random.chance(200)) selection.privileges = 1U << static_cast<unsigned>(Privilege::kUser);
  if (random.chance(300)) {
    selection.classes = 1U << static_cast<unsigned>(InstructionClass::kBranch);
  }
  return selection;
}

struct Case {
  explicit Case(Random& random)
      : trace(random_trace(random)),
        selection(random_selection(random)),
        begin{random.below(2) * random.below(selection.numbers.first + 1),
              random.below(2) * random.below(selection.ticks.first + 1)},
        threads(1 + static_cast<unsigned>(random.below(3))) {}

  // Returns the statistics and the text.
  template <class MakePrinter>
  CoreStatistics decode(const MakePrinter& make_printer, std::string& text) const {
    ParallelDecode decode(map, make_printer, threads, kSmallParts);
    const std::optional<CoreStatistics> statistics = decode.run(streams_of(trace, text));
    REQUIRE(statistics);
    return *statistics;
  }

  template <class Next>
  CoreStatistics decode_at_once(Next& next, uint64_t& selected) const {
    SelectingSink sink(selection, next);
    sink.begin_at(begin);
    CoreDecoder decoder(map, sink);
    decoder.feed(trace);
    decoder.finish();
    sink.finish();
    selected = sink.selected();
    return decoder.statistics();
  }

  // Passes the trace to one sink in parts, and to the other sink at once. The statistics must be
  // equal.
  template <class InParts, class AtOnce>
  void pass(InParts& in_parts, AtOnce& at_once) const {
    PartPool<InParts> pool(in_parts);
    OpenParts parts(selection, begin);
    std::string none;
    const CoreStatistics statistics =
        decode([&](TextOutput&) { return SelectedPartSink<InParts>(pool, parts, nullptr); }, none);
    in_parts.finish();
    uint64_t selected = 0;
    REQUIRE(statistics == decode_at_once(at_once, selected));
    at_once.finish();
    REQUIRE(pool.selected() == selected);
  }

  std::vector<std::byte> trace;
  Selection selection;
  TracePlace begin;  // as with an index: nothing before this position may be selected
  unsigned threads;
  TranslationMap map{generator::translation_file(), 0};
};

}  // namespace

TEST_CASE("threads print the selection that one thread prints") {
  size_t printed = 0;
  for (uint64_t seed = 0; seed < rounds(40); seed++) {
    INFO("seed ", seed);
    Random random(seed);
    const Case test(random);
    TextOutput expected = TextOutput::memory();
    TextPrinter printer(expected, {.stamps = true});
    uint64_t selected = 0;
    const CoreStatistics statistics = test.decode_at_once(printer, selected);

    std::string text;
    OpenParts parts(test.selection, test.begin);
    const CoreStatistics of_parts = test.decode(
        [&](TextOutput& output) {
          return SelectedPrinter<TextPrinter>(
              [](TextOutput& to) { return TextPrinter(to, {.stamps = true}); }, output, parts,
              nullptr);
        },
        text);
    REQUIRE(text == expected.text());
    REQUIRE(of_parts == statistics);
    printed += text.size();
  }
  CHECK(printed > rounds(100000));
}

TEST_CASE("a heat map of parts has the counts of one thread") {
  for (uint64_t seed = 0; seed < rounds(40); seed++) {
    INFO("seed ", seed);
    Random random(seed);
    const Case test(random);
    const SymbolTable none;
    HeatMaps in_parts(128, std::nullopt), at_once(128, std::nullopt);
    DataHeat heat_in_parts(in_parts, DataKey::kEffective, none);
    DataHeat heat_at_once(at_once, DataKey::kEffective, none);
    test.pass(heat_in_parts, heat_at_once);
    const auto cells = [](const HeatMaps& maps) {
      return HeatMapReport{.maps = maps,
                           .totals = {},
                           .traces = 1,
                           .what = "a",
                           .step = "b",
                           .kind = "c",
                           .remarks = "",
                           .top = 100000}
          .to_csv();
    };
    REQUIRE(cells(in_parts) == cells(at_once));
    REQUIRE(in_parts.events() == at_once.events());
    REQUIRE(in_parts.without_address() == at_once.without_address());
  }
}

TEST_CASE("a timeline of parts has the windows of one thread") {
  size_t windows = 0;
  for (uint64_t seed = 0; seed < rounds(40); seed++) {
    INFO("seed ", seed);
    Random random(seed);
    const Case test(random);
    std::vector<TimelineReport::Trace> in_parts{{.name = "", .timeline = Timeline(8)}};
    std::vector<TimelineReport::Trace> at_once = in_parts;
    test.pass(in_parts[0].timeline, at_once[0].timeline);
    const auto text = [](const std::vector<TimelineReport::Trace>& traces) {
      return TimelineReport{.traces = traces, .totals = {}}.to_json();
    };
    REQUIRE(text(in_parts) == text(at_once));
    windows += at_once[0].timeline.windows().size();
  }
  CHECK(windows > rounds(80));
}

}  // namespace htmtrace
