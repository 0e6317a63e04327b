// SPDX-License-Identifier: GPL-2.0-or-later
// What is counted of a bus trace without events is what is counted with them.
#include "core/nest_counter.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "cli/nest_choice.h"
#include "tests/encoder/nest.h"
#include "tests/encoder/power10.h"
#include "tests/generator/generated_trace.h"
#include "tests/unit/rounds.h"

namespace htmtrace::nest {
namespace {

using generator::Random;
using Bytes = std::vector<std::byte>;

struct Nothing {
  void event(const Event&, std::optional<LogicalAddr>) {}
};

// By way of events, as they are printed.
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

void put(std::vector<uint64_t>& words, const uint64_t pair[2]) {
  words.insert(words.end(), pair, pair + 2);
}

nest_response random_response(Random& random, const nest_command& command) {
  nest_response response{};
  response.code = static_cast<unsigned>(random.below(32));
  response.group = command.group;
  response.chip = command.chip;
  response.ticket = command.ticket;
  response.scope = command.scope;
  response.snoop_port = static_cast<unsigned>(random.below(2));
  return response;
}

// Few tickets, so that responses find commands, too late ones and none.
std::vector<uint64_t> random_words(Random& random, Layout layout) {
  std::vector<uint64_t> words;
  nest_command command{};
  const bool power8 = layout == Layout::kPower8;
  for (unsigned i = 0; i < 4000; i++) {
    uint64_t pair[2];
    const nest_response response = random_response(random, command);
    if (random.chance(20)) {
      power10_companion(
          pair, random.next(), 0,
          random.chance(500) ? power10_sync() : power10_time(kPower10TimeResponseDropped, 3, 77));
      if (power8) pair[0] = 0;
    } else if (random.chance(20)) {
      pair[0] = random.next() >> random.below(64);  // anything
      pair[1] = random.next() >> random.below(64);
    } else if (random.chance(300)) {
      const nest_response* slots[4] = {};
      for (const nest_response*& slot : slots) slot = random.chance(400) ? &response : nullptr;
      (power8 ? power8_nest_responses : power9_nest_responses)(pair, slots, i % 16);
    } else {
      const uint64_t logical = random.below(uint64_t{generator::kOwnBlocks + 10} << 28);
      command.address = generator::real_of_logical(logical) & ~uint64_t{0x7f};
      command.ttype = static_cast<unsigned>(random.below(random.chance(700) ? 3 : 64));
      command.tsize = static_cast<unsigned>(random.below(128));
      command.ticket = static_cast<unsigned>(random.below(random.chance(900) ? 2 : 64));
      command.chip = static_cast<unsigned>(random.below(4));
      command.scope = 3;
      (power8 ? power8_nest_command : power9_nest_command)(
          pair, &command, random.chance(200) ? &response : nullptr);
    }
    put(words, pair);
  }
  return words;
}

}  // namespace

TEST_CASE("bus traces are counted as their events are") {
  const TranslationMap map(generator::translation_file(), 0);
  const TranslationMap none;
  for (const Layout layout : {Layout::kPower8, Layout::kPower9, Layout::kUnknown}) {
    uint64_t matched = 0, alone = 0, translated = 0;
    for (uint64_t seed = 0; seed < rounds(40); seed++) {
      Random random(seed);
      Bytes trace = generator::bytes_of(random_words(random, layout));
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
