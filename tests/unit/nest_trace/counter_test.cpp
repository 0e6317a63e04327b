// SPDX-License-Identifier: GPL-2.0-or-later
// The counts of a bus trace without events equal the counts with events.
#include "core/nest_trace/counter.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "cli/traces/nest_choice.h"
#include "tests/generator/nest_trace.h"
#include "tests/unit/rounds.h"

namespace htmtrace::nest {
namespace {

using generator::Random;
using Bytes = std::vector<std::byte>;

struct Nothing {
  void event(const Event&, std::optional<LogicalAddr>) {}
};

// Counts through events, as they are printed.
Statistics by_events(Layout layout, const Bytes& trace, const TranslationMap& map) {
  const Selection all;
  const std::vector<std::string> commands;
  Nothing nothing;
  NestChoice<Nothing> choice({.selection = all, .commands = commands, .map = map}, layout, nothing);
  Decoder decoder(layout, 1);
  decoder.take(trace, 0);
  decoder.finish();
  for (const Event& event : decoder.ready()) choice.event(event);
  Statistics statistics = decoder.statistics();
  statistics.translated = choice.translated();
  statistics.untranslated = choice.untranslated();
  return statistics;
}

Statistics by_counting(Layout layout, std::span<const std::byte> trace, const TranslationMap& map,
                       size_t piece) {
  Counter counter(layout, 1, map);
  while (!trace.empty()) {
    const size_t size = std::min(piece, trace.size());
    counter.take(trace.first(size));
    trace = trace.subspan(size);
  }
  return counter.statistics();
}

}  // namespace

TEST_CASE("bus traces have the same counts with and without events") {
  const TranslationMap map(generator::translation_file(), 0);
  const TranslationMap none;
  for (const Layout layout : {Layout::kPower8, Layout::kPower9, Layout::kUnknown}) {
    uint64_t matched = 0, alone = 0, translated = 0;
    for (uint64_t seed = 0; seed < rounds(40); seed++) {
      Random random(seed);
      Bytes trace = generator::bytes_of(generator::nest_words(random, layout, 4000));
      for (uint64_t i = seed % 2 == 0 ? 0 : random.below(300); i != 0; i--) {
        trace[random.below(trace.size())] ^= static_cast<std::byte>(1U << random.below(8));
      }
      trace.resize(trace.size() - random.below(20));
      const size_t piece = kRecordBytes * (1 + random.below(100));
      const Statistics events = by_events(layout, trace, map);
      REQUIRE(by_counting(layout, trace, map, piece) == events);
      REQUIRE(by_counting(layout, trace, none, trace.size()) == by_events(layout, trace, none));
      REQUIRE(events.accounted_bytes() == trace.size());
      matched += events.matched_responses;
      alone += events.responses - events.matched_responses;
      translated += events.translated;
    }
    if (layout == Layout::kUnknown) continue;
    CHECK(matched > rounds(1000));
    CHECK(alone > rounds(1000));
    CHECK(translated > rounds(1000));
  }
}

}  // namespace htmtrace::nest
