// SPDX-License-Identifier: GPL-2.0-or-later
// Reads slices of bus traces by index, as core_trace's index test does for core traces.
#include "core/selection/index.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "cli/traces/nest_choice.h"
#include "cli/traces/nest_reading.h"
#include "core/selection/indexer.h"
#include "output/io/input_file.h"
#include "output/io/text_output.h"
#include "output/print/nest_printer.h"
#include "tests/encoder/nest.h"
#include "tests/encoder/power10.h"
#include "tests/generator/generated_trace.h"
#include "tests/unit/rounds.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {
namespace {

using generator::Random;
using Bytes = std::vector<std::byte>;

// Alternates the lines of both engines: commands, responses some records later, and stamps with
// timers.
Bytes bus_trace(uint64_t seed, nest::Layout layout, bool timers) {
  const bool power9 = layout == nest::Layout::kPower9;
  const unsigned engines = power9 ? 2 : 1;
  Random random(seed);
  std::array<std::vector<nest_command>, 2> asked;
  std::array<uint64_t, 2> timer{500, 700};
  std::vector<uint64_t> words;
  const auto put = [&words](const uint64_t pair[2]) { words.insert(words.end(), pair, pair + 2); };
  for (unsigned line = 0; line < 600; line++) {
    const unsigned engine = line % engines;
    for (unsigned i = 0; i < 8; i++) {
      uint64_t pair[2];
      if (random.chance(30)) {
        timer.at(engine) += random.below(5000);
        power10_companion(pair, timer.at(engine), 0, power10_time(kPower10TimeElapsed, 0, 3));
        if (!timers) pair[0] = 0;
        put(pair);
        continue;
      }
      nest_command command{};
      command.address = random.below(1 << 20) << 8 | engine << 7;
      command.unit = 0x42;
      command.chip = static_cast<unsigned>(random.below(4));
      command.scope = 3;
      command.ticket = static_cast<unsigned>(random.below(power9 ? 128 : 64));
      command.tsize = power9 ? 0x40 : 0x20;
      command.delta = static_cast<unsigned>(random.below(16));
      timer.at(engine) += command.delta;
      std::vector<nest_command>& open = asked.at(engine);
      if (open.empty() || random.chance(550)) {
        open.push_back(command);
        (power9 ? power9_nest_command : power8_nest_command)(pair, &command, nullptr);
      } else {
        // Most responses answer recent commands, and some answer old commands.
        const size_t which = random.chance(900)
                                 ? open.size() - 1 - random.below(std::min<size_t>(open.size(), 40))
                                 : random.below(open.size());
        const nest_response response = {1, 0, open.at(which).chip, open.at(which).ticket, 0, 3, 0};
        const nest_response* const slots[4] = {&response, nullptr, nullptr, nullptr};
        (power9 ? power9_nest_responses : power8_nest_responses)(pair, slots, 2);
        timer.at(engine) += 2;
        open.erase(open.begin() + static_cast<ptrdiff_t>(which));
      }
      put(pair);
    }
  }
  return generator::bytes_of(words);
}

struct BusText {
  std::string text;
  uint64_t bytes = 0;
  bool narrowed = false;
};

BusText bus_text(const ChosenTrace& trace, nest::Layout layout, const Selection& selection,
                 bool narrow) {
  static const TranslationMap map(generator::translation_file(), 0);
  static const std::vector<std::string> all_commands;
  NestReading reading(trace, layout);
  BusText result;
  if (narrow) result.narrowed = reading.narrow(trace, selection);
  TextOutput output = TextOutput::memory();
  NestPrinter printer(output, layout, {.stamps = true, .target = "t"});
  NestChoice<NestPrinter> choice({.selection = selection, .commands = all_commands, .map = map},
                                 layout, printer);
  while (reading.advance(choice) && !choice.satisfied()) {
  }
  result.text = output.text();
  result.bytes = reading.statistics().bytes;
  return result;
}

}  // namespace

TEST_CASE("a slice of a nest trace by index equals the slice of the whole trace") {
  const TemporaryFolder folder;
  for (uint64_t seed = 0; seed < rounds(9); seed++) {
    CAPTURE(seed);
    Random random(seed);
    const auto layout = seed % 4 == 3 ? nest::Layout::kPower8 : nest::Layout::kPower9;
    Bytes bytes = bus_trace(seed, layout, seed % 5 != 0);
    for (uint64_t i = seed % 3 == 2 ? 40 : 0; i != 0; i--) {
      bytes.at(random.below(bytes.size())) ^= static_cast<std::byte>(1U << random.below(8));
    }
    folder.write("trace", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    const ChosenTrace trace{.path = folder.path() / "trace", .place = {}, .type = {}};
    NestIndexer indexer(layout, layout == nest::Layout::kPower9 ? 2 : 1, 1 + random.below(4000));
    for (size_t at = 0; at < bytes.size(); at += 512) {
      indexer.take(std::span(bytes).subspan(at, std::min<size_t>(512, bytes.size() - at)));
    }
    NestIndex index = indexer.finish();
    index.file = InputFile::open(trace.path).identity().value();
    REQUIRE(unpack_nest_index(pack(index)) == index);
    const Bytes packed = pack(index);
    folder.write("trace.index", {reinterpret_cast<const char*>(packed.data()), packed.size()});
    for (int i = 0; i < 6; i++) {
      Selection selection;
      const uint64_t first = random.below(12000);
      selection.ticks = {first, random.chance(300) ? Selection::kAny : first + random.below(2000)};
      const BusText part = bus_text(trace, layout, selection, true);
      const BusText whole = bus_text(trace, layout, selection, false);
      REQUIRE(part.narrowed);
      REQUIRE(part.text == whole.text);
      CHECK(part.bytes <= whole.bytes);
    }
  }
}

}  // namespace htmtrace
