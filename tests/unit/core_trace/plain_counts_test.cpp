// SPDX-License-Identifier: GPL-2.0-or-later
// Compares the counts of the counting decoder with those of the full decoder.
#include "core/core_trace/plain_counts.h"

#include <doctest/doctest.h>

#include <array>
#include <limits>
#include <optional>

#include "core/core_trace/decoder.h"
#include "tests/encoder/power10.h"
#include "tests/generator/generated_trace.h"
#include "tests/unit/rounds.h"

namespace htmtrace {
namespace {

using Bytes = std::vector<std::byte>;
using generator::bytes_of;
using generator::Random;

constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();

// Consumes instructions as a printer does.
struct TakingSink {
  void instruction(const Instruction&) { instructions++; }
  void stamp(const Stamp&) { stamps++; }
  void defect(const Defect&) {}
  uint64_t instructions = 0, stamps = 0;
};

struct Way {
  size_t piece = std::numeric_limits<size_t>::max();
  uint64_t limit = kNoLimit;
  bool walks = false;
};

template <class Sink>
CoreStatistics statistics_of(std::span<const std::byte> trace, const TranslationMap& map, Way way) {
  Sink sink;
  CoreDecoder decoder(map, sink);
  decoder.set_instruction_limit(way.limit);
  if (way.walks) decoder.follow_walks();
  while (!trace.empty()) {
    const size_t size = std::min(way.piece, trace.size());
    decoder.feed(trace.first(size));
    trace = trace.subspan(size);
  }
  decoder.finish();
  return decoder.statistics();
}

template <class Program>
Bytes generated_bytes(uint64_t seed, unsigned instructions, generator::Options options) {
  Program program(seed, options);
  std::vector<uint64_t> words;
  for (unsigned i = 0; i < instructions; i++) program.next(words, false);
  return bytes_of(words);
}

// Ranges that end in the middle of pages.
TranslationMap ragged_map(Random& random) {
  std::vector<uint64_t> words = {0, 0, 40, 0};
  for (uint64_t i = 0; i < 40; i++) {
    const uint64_t real = generator::real_of_logical(i * generator::kBlockBytes) +
                          random.below(generator::kBlockBytes / 2);
    words.insert(words.end(), {real, i << 32, 0, random.below(generator::kBlockBytes / 2)});
  }
  return {bytes_of(words), 0};
}

// A map of one third of the memory.
TranslationMap part_of_map() {
  std::vector<uint64_t> words = {0, 0, 20, 0};
  for (uint64_t i = 0; i < 20; i++) {
    words.insert(words.end(), {generator::real_of_logical(i * generator::kBlockBytes), i << 32, 0,
                               generator::kBlockBytes});
  }
  return {bytes_of(words), 0};
}

void spoil(Bytes& trace, Random& random) {
  for (uint64_t i = random.below(60); i != 0; i--) {
    trace[random.below(trace.size())] ^= static_cast<std::byte>(1U << random.below(8));
  }
  if (random.chance(300)) {
    const size_t at = random.below(trace.size());
    const auto begin = trace.begin() + static_cast<ptrdiff_t>(at);
    trace.erase(begin, begin + static_cast<ptrdiff_t>(random.below(trace.size() - at)));
  }
  if (random.chance(300)) trace.resize(trace.size() - random.below(trace.size() / 2));
}

void check_same(const Bytes& trace, const TranslationMap& map, Way way) {
  REQUIRE(statistics_of<CountingSink>(trace, map, way) ==
          statistics_of<TakingSink>(trace, map, way));
}

template <class Program>
void check_traces(unsigned traces, unsigned instructions) {
  Random random(11);
  const std::array<TranslationMap, 4> maps = {TranslationMap(generator::translation_file(), 0),
                                              TranslationMap(), part_of_map(), ragged_map(random)};
  CHECK(maps[0].in_whole_pages());
  CHECK(maps[1].in_whole_pages());
  CHECK_FALSE(maps[3].in_whole_pages());
  for (uint64_t seed = 0; seed < traces; seed++) {
    Bytes trace = generated_bytes<Program>(
        seed, instructions, {.stamps_per_mille = seed % 3 == 0 ? 60U : 3U, .walks = seed % 2 == 0});
    if (seed % 3 != 0) spoil(trace, random);
    for (const TranslationMap& map : maps) {
      check_same(trace, map, {});
      check_same(trace, map, {.piece = 1 + random.below(3000)});
      check_same(trace, map, {.limit = random.below(instructions)});
      check_same(trace, map, {.piece = 8 + random.below(3000), .walks = true});
    }
  }
}

}  // namespace

TEST_CASE("the counts of POWER10 traces do not depend on the sink") {
  check_traces<generator::Power10Program>(rounds(90), 600);
}

TEST_CASE("the counts of POWER8 traces do not depend on the sink") {
  check_traces<generator::Power8Program>(rounds(40), 400);
}

TEST_CASE("long runs are counted completely") {
  const TranslationMap map(generator::translation_file(), 0);
  const Bytes trace = generated_bytes<generator::Power10Program>(
      5, 100000, {.stamps_per_mille = 0, .walks = false, .interruptions = false});
  const CoreStatistics counted = statistics_of<CountingSink>(trace, map, {});
  CHECK(counted == statistics_of<TakingSink>(trace, map, {}));
  CHECK(counted.instruction_count() == 100000);
  CHECK(counted.defect_count() == 0);
  CHECK(counted.untranslated == 0);
  CHECK(counted.accounted_bytes() == trace.size());
}

TEST_CASE("branches of an unknown stored form, long records and consecutive lines are counted") {
  std::vector<uint64_t> words;
  uint64_t line[kPower10IearaWords];
  const auto enter = [&](uint64_t ea) {
    power10_ieara(line, ea, generator::real_of_logical(generator::logical_of_effective(ea)));
    words.insert(words.end(), std::begin(line), std::end(line));
  };
  for (uint64_t i = 0; i < 40; i++) {
    const uint64_t ea = 0x10000000 + i * 128;
    enter(ea);
    if (i % 3 == 0) enter(ea + 128);  // no INFO in between
    // Primary opcode 19 in the form of mtmsr, but not a return: no instruction is stored in this
    // form.
    const uint32_t stored = i % 4 == 0 ? 0x4c180000 : 0x4c180024;
    words.push_back(power10_info(stored, ea, true, false, kPower10NoOperand));
    words.push_back(power10_msr(0x9033));
    for (const auto operands : {kPower10TwoPairs, kPower10OnePair, kPower10SegmentPair}) {
      words.push_back(power10_info(0xe8000000, ea + 8, false, i % 2 == 0, operands));
      words.push_back(power10_msr(0x9033));
      if (i % 2 == 0) words.push_back(power10_prefix(0x04000000));
      for (int pair = 0; pair < (operands == kPower10TwoPairs ? 2 : 1); pair++) {
        words.push_back(0x7fff0000 + i * 8192);
        words.push_back(power10_dra(generator::real_of_logical(i * 4096)));
      }
    }
  }
  for (int i = 0; i < 7; i++) words.push_back(0);
  const TranslationMap map(generator::translation_file(), 0);
  const Bytes trace = bytes_of(words);
  check_same(trace, map, {});
  const CoreStatistics counted = statistics_of<CountingSink>(trace, map, {});
  CHECK(counted.unrestored_branches == 10);
  CHECK(counted.branches == 40);
  CHECK(counted.data_accesses == 120);
  CHECK(counted.segment_operands == 40);
  CHECK(counted.prefixed == 60);
  CHECK(counted.interrupted_groups == 14);
}

}  // namespace htmtrace
