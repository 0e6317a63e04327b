// SPDX-License-Identifier: GPL-2.0-or-later
// Compares a slice of a trace by index with the same slice of the whole trace: random traces, also
// damaged traces, and every kind of selection that an index serves.
#include "core/selection/index.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/base/crc32c.h"
#include "core/base/packed_numbers.h"
#include "core/selection/indexer.h"
#include "output/io/text_output.h"
#include "output/print/selecting_sink.h"
#include "output/print/text_printer.h"
#include "tests/encoder/power10.h"
#include "tests/encoder/power8.h"
#include "tests/generator/generated_trace.h"
#include "tests/unit/rounds.h"

namespace htmtrace {
namespace {

using generator::Random;
using Bytes = std::vector<std::byte>;

template <class Program>
Bytes generated(uint64_t seed, int instructions) {
  std::vector<uint64_t> words;
  Program program(seed, {.stamps_per_mille = 10});
  for (int i = 0; i < instructions; i++) program.next(words, false);
  return generator::bytes_of(words);
}

// Pages of all sizes in few sets of the translation cache, so that many pages replace each other.
// Page sizes and addresses change.
Bytes restless_power8_trace(uint64_t seed, unsigned instructions) {
  Random random(seed);
  std::vector<uint64_t> words;
  constexpr uint64_t kSameSet = uint64_t{4096} << 12;  // distance between pages of one set
  static constexpr unsigned kSizes[] = {kPower8Page4K, kPower8Page64K, kPower8Page16M};
  for (unsigned i = 0; i < instructions; i++) {
    const uint64_t ea = 0x10000000 + random.below(12) * kSameSet + random.below(8) * 0x4000 +
                        random.below(1 << 12) * 4;
    const bool jump = random.chance(300);
    const bool looked_up = jump && random.chance(500);
    unsigned follow = 0;
    if (jump) follow |= kPower8Iea;
    if (looked_up) follow |= kPower8Ira;
    if (random.chance(200)) follow |= kPower8Dea | kPower8Dra;
    const auto stamp = [&] {
      if (random.chance(10)) words.push_back(power10_mark(3, 2, 0x155, 0xabc, false));
    };
    stamp();
    words.push_back(power8_info(0xe8000000, false, false, true, follow));
    stamp();
    if (jump) words.push_back(power8_iea(ea, false, random.chance(900)));
    const uint64_t real = generator::real_of_logical(random.below(64) << 24);
    const size_t size = random.chance(900) ? 0 : 1 + random.below(2);
    if (looked_up) words.push_back(power8_ira(real, kSizes[size]));
    stamp();
    if ((follow & kPower8Dea) != 0) {
      words.push_back(random.next());
      words.push_back(power8_dra(real, kPower8Page64K));
    }
  }
  return generator::bytes_of(words);
}

Bytes random_trace(uint64_t seed) {
  switch (seed % 5) {
    case 3:
      return generated<generator::Power8Program>(seed, 2000);
    case 4:
      return restless_power8_trace(seed, 4000);
    default:
      return generated<generator::Power10Program>(seed, 2000);
  }
}

// Gives each generated mark a value from a small set. The events after the first mark of a value
// are then not the events after the first mark of another value.
void tell_marks_apart(Bytes& trace, Random& random) {
  const Bytes mark = generator::bytes_of({power10_mark(3, 2, 0x155, 0xabc, false)});
  for (size_t at = 0; at + mark.size() <= trace.size(); at += mark.size()) {
    const auto begin = trace.begin() + static_cast<ptrdiff_t>(at);
    if (!std::equal(mark.begin(), mark.end(), begin)) continue;
    const auto value = static_cast<unsigned>(random.below(12)) << 3;  // for POWER8 also lower bits
    const Bytes other = generator::bytes_of({power10_mark(3, 2, 0x155, value, false)});
    std::copy(other.begin(), other.end(), begin);
  }
}

void damage(Bytes& trace, Random& random) {
  for (uint64_t i = random.below(30); i != 0; i--) {
    const size_t at = random.below(trace.size() - 300);
    if (random.chance(300)) {
      trace.erase(trace.begin() + static_cast<ptrdiff_t>(at),
                  trace.begin() + static_cast<ptrdiff_t>(at + random.below(40) * 8));
    } else if (random.chance(300)) {
      std::fill_n(trace.begin() + static_cast<ptrdiff_t>(at), random.below(300), std::byte{0xaa});
    } else {
      trace.at(at) ^= static_cast<std::byte>(1U << random.below(8));
    }
  }
}

CoreIndex index_of(const Bytes& trace, uint64_t interval, size_t piece) {
  CoreIndexer indexer(interval);
  for (size_t at = 0; at < trace.size(); at += piece) {
    indexer.take(std::span(trace).subspan(at, std::min(piece, trace.size() - at)));
  }
  return indexer.finish();
}

// Prints the trace from `restart` on, or from its begin if `restart` is null.
std::string decoded(const Bytes& trace, const Selection& selection, uint64_t limit,
                    const CoreRestart* restart, std::span<const Power8Page> pages) {
  static const TranslationMap map(generator::translation_file(), 0);
  TextOutput output = TextOutput::memory();
  TextPrinter printer(output, {.stamps = selection.last == Selection::kAny, .modes = true});
  SelectingSink sink(selection, printer);
  CoreDecoder decoder(map, sink);
  decoder.set_instruction_limit(limit);
  std::span<const std::byte> left(trace);
  if (restart != nullptr) {
    left = left.subspan(restart->offset);
    sink.begin_at(restart->place);
    decoder.start_at(restart->offset, pages);
    decoder.set_instruction_limit(limit - restart->place.instructions);
  }
  decoder.feed(left);
  decoder.finish();
  sink.finish();
  return std::string(output.text());
}

Selection random_selection(Random& random, const CoreIndex& index) {
  Selection selection;
  const auto window = [&random](uint64_t end) {
    const uint64_t first = random.below(end + 2);
    return AddressRange{first, random.chance(300) ? Selection::kAny : first + random.below(end)};
  };
  const uint64_t ticks = index.restarts.empty() ? 1000 : index.restarts.back().place.ticks;
  const auto mark = [&]() -> unsigned {
    if (index.marks.empty()) return 0xabd;
    return static_cast<unsigned>(index.marks[random.below(index.marks.size())].value);
  };
  switch (random.below(8)) {
    case 0:
      selection.numbers = window(index.instructions + 1);
      break;
    case 1:
      selection.ticks = window(ticks + 1);
      break;
    case 2:
      selection.numbers = window(index.instructions + 1);
      selection.ticks = window(ticks + 1);
      selection.every = 1 + random.below(3);
      break;
    case 3:
      selection.last = random.below(index.instructions + 10);
      break;
    case 4:
      selection.from_mark = random.chance(800) ? mark() : 0xabd;
      selection.to_mark = mark();
      break;
    case 5:
    case 6:
      if (random.chance(700)) selection.from_mark = mark();
      if (random.chance(500)) selection.to_mark = mark();
      if (random.chance(700)) selection.numbers = window(index.instructions + 1);
      if (random.chance(300)) selection.ticks = window(ticks + 1);
      break;
    default:
      selection.numbers = window(index.instructions + 1);
      selection.privileges = 1U << static_cast<unsigned>(Privilege::kUser);
      selection.first = random.below(50);
      break;
  }
  return selection;
}

}  // namespace

TEST_CASE("a slice of a core trace by index equals the slice of the whole trace") {
  uint64_t late = 0;
  size_t most_restarts = 0, most_pages = 0;
  for (uint64_t seed = 0; seed < rounds(30); seed++) {
    CAPTURE(seed);
    Random random(seed);
    Bytes trace = random_trace(seed);
    tell_marks_apart(trace, random);
    if (seed % 3 != 0) damage(trace, random);
    // Separate statements, because compilers evaluate arguments in different orders.
    const size_t piece = 1 + random.below(5000);
    const uint64_t interval =
        seed == 0 ? 1 : 1 + random.below(8000);  // every position, or some positions
    const CoreIndex index = index_of(trace, interval, piece);
    most_restarts = std::max(most_restarts, index.restarts.size());
    most_pages = std::max(most_pages, index.pages.size());
    if (seed % 5 >= 3) CHECK_FALSE(index.restarts.empty());
    REQUIRE(unpack_core_index(pack(index)) == index);
    for (int i = 0; i < 12; i++) {
      const Selection selection = random_selection(random, index);
      const uint64_t limit =
          random.chance(200) ? random.below(index.instructions + 1) : Selection::kAny;
      const CoreRestart* const restart = restart_for(index, selection, limit);
      if (restart == nullptr) continue;
      late++;
      REQUIRE(decoded(trace, selection, limit, restart, pages_before(index, *restart)) ==
              decoded(trace, selection, limit, nullptr, {}));
    }
  }
  CHECK(late > rounds(120));
  CHECK(most_restarts > 100);
  CHECK(most_pages > rounds(200));
}

TEST_CASE("the index finds the last restart position ahead of the selection") {
  CoreIndex index;
  index.instructions = 1000;
  for (uint64_t i = 1; i <= 10; i++) {
    index.restarts.push_back(
        {.offset = i * 4096, .place = {.instructions = i * 90, .ticks = i * 7}});
  }
  index.marks = {{.value = 5, .offset = 3 * 4096 + 8}};
  const auto offset = [&index](const Selection& selection, uint64_t limit = Selection::kAny) {
    const CoreRestart* const restart = restart_for(index, selection, limit);
    return restart == nullptr ? 0 : restart->offset;
  };
  Selection selection;
  CHECK_FALSE(may_begin_late(selection));
  CHECK(offset(selection) == 0);
  selection.numbers = {270, Selection::kAny};
  CHECK(may_begin_late(selection));
  CHECK(offset(selection) == 3 * 4096);
  CHECK(offset(selection, 269) == 2 * 4096);  // at most this number of instructions is decoded
  CHECK(offset(selection, 89) == 0);
  selection.numbers.first = 269;
  CHECK(offset(selection) == 2 * 4096);
  selection.ticks.first = 35;  // instructions at 5 * 7 may precede the position
  CHECK(offset(selection) == 4 * 4096);
  selection = {};
  selection.from_mark = 5;
  CHECK(offset(selection) == 3 * 4096);
  selection.numbers.first = 900;  // events ahead of the mark must not be skipped
  CHECK(offset(selection) == 3 * 4096);
  selection.numbers.first = 100;
  CHECK(offset(selection) == 3 * 4096);
  selection = {};
  selection.to_mark = 5;
  selection.numbers.first = 900;
  CHECK(offset(selection) == 3 * 4096);
  selection.numbers.first = 100;
  CHECK(offset(selection) == 4096);
  selection = {};
  selection.last = 100;
  CHECK(offset(selection) == 10 * 4096);
  selection.last = 101;
  CHECK(offset(selection) == 9 * 4096);
  selection.every = 2;  // counted from the begin
  CHECK_FALSE(may_begin_late(selection));
}

TEST_CASE("the index finds a position where ticks are known, ahead of the selection") {
  CoreIndex index;
  constexpr uint64_t kTicks[] = {0, 0, 30, 30, 30, 70};
  for (uint64_t i = 0; i < std::size(kTicks); i++) {
    index.restarts.push_back(
        {.offset = (i + 1) * 4096, .place = {.instructions = (i + 1) * 90, .ticks = kTicks[i]}});
  }
  const auto offset = [&index](uint64_t first) {
    Selection selection;
    selection.numbers.first = first;
    const CoreRestart* const restart = restart_for(index, selection, Selection::kAny, Lead::kTicks);
    return restart == nullptr ? 0 : restart->offset;
  };
  CHECK(offset(89) == 0);
  CHECK(offset(200) == 2 * 4096);  // no stamp has reported ticks up to there
  CHECK(offset(290) == 2 * 4096);
  CHECK(offset(500) == 2 * 4096);
  CHECK(offset(600) == 5 * 4096);
  index.restarts.erase(index.restarts.begin(), index.restarts.begin() + 2);
  CHECK(offset(500) == 0);
}

TEST_CASE("an index survives serialization, and a damaged index is rejected") {
  const CoreIndex index = index_of(generated<generator::Power10Program>(1, 500), 1000, 4096);
  REQUIRE(index.restarts.size() > 5);
  REQUIRE_FALSE(index.marks.empty());
  const Bytes bytes = pack(index);
  CHECK(unpack_core_index(bytes) == index);
  CHECK_FALSE(unpack_nest_index(bytes));
  CHECK_FALSE(unpack_core_index({}));
  for (size_t at = 0; at < bytes.size(); at++) {
    Bytes damaged = bytes;
    damaged.at(at) ^= std::byte{1};
    CHECK_FALSE(unpack_core_index(damaged));
    CHECK_FALSE(unpack_core_index(std::span(bytes).first(at)));
  }
  // A count that exceeds the bytes, with a correct checksum.
  CoreIndex none;
  Bytes large = pack(none);
  REQUIRE(large.size() > 80);
  std::fill_n(large.begin() + ptrdiff_t{8} * 8, 8, std::byte{0xff});
  large.resize(large.size() - 8);
  std::vector<std::byte> sealed = large;
  pack_word(crc32c(large), sealed);
  CHECK_FALSE(unpack_core_index(sealed));
}

}  // namespace htmtrace
