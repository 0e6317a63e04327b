// SPDX-License-Identifier: GPL-2.0-or-later
// Compares selections from a trace of known content with a slow second implementation.
#include "core/selection/selection.h"

#include <doctest/doctest.h>

#include <functional>

#include "cli/traces/selection_options.h"
#include "output/print/selecting_sink.h"
#include "tests/encoder/power10.h"
#include "tests/generator/generated_trace.h"
#include "tests/unit/decoded_text.h"

namespace htmtrace {
namespace {

struct Collected {
  void instruction(const Instruction& instruction) { instructions.push_back(instruction); }
  void stamp(const Stamp& stamp) { stamps.push_back(stamp); }
  void defect(const Defect&) {}
  std::vector<Instruction> instructions;
  std::vector<Stamp> stamps;
};

std::vector<std::byte> trace_of(int instructions) {
  std::vector<uint64_t> words;
  generator::Power10Program program(3, {});
  for (int i = 0; i < instructions; i++) program.next(words, false);
  return generator::bytes_of(words);
}

Collected decode_all(std::span<const std::byte> trace) {
  const TranslationMap map(generator::translation_file(), 0);
  Collected all;
  CoreDecoder decoder(map, all);
  decoder.feed(trace);
  decoder.finish();
  return all;
}

Collected select(std::span<const std::byte> trace, const Selection& selection, size_t piece) {
  const TranslationMap map(generator::translation_file(), 0);
  Collected chosen;
  SelectingSink sink(selection, chosen);
  CoreDecoder decoder(map, sink);
  for (size_t at = 0; at < trace.size(); at += piece) {
    decoder.feed(trace.subspan(at, std::min(piece, trace.size() - at)));
  }
  decoder.finish();
  sink.finish();
  return chosen;
}

std::vector<uint64_t> offsets(const std::vector<Instruction>& instructions) {
  std::vector<uint64_t> found;
  found.reserve(instructions.size());
  for (const Instruction& instruction : instructions) found.push_back(instruction.offset);
  return found;
}

using Predicate = std::function<bool(const Instruction&)>;

std::vector<Instruction> filtered(const std::vector<Instruction>& all, const Predicate& wanted) {
  std::vector<Instruction> chosen;
  std::copy_if(all.begin(), all.end(), std::back_inserter(chosen), wanted);
  return chosen;
}

bool any_data(const Instruction& instruction,
              const std::function<bool(const DataAccess&)>& wanted) {
  for (unsigned i = 0; i < instruction.data_count; i++) {
    if (wanted(instruction.data.at(i))) return true;
  }
  return false;
}

void check(const Selection& selection, const Predicate& wanted) {
  const std::vector<std::byte> trace = trace_of(5000);
  const std::vector<uint64_t> expected = offsets(filtered(decode_all(trace).instructions, wanted));
  CHECK_FALSE(expected.empty());
  CHECK(expected.size() < 5000);
  CHECK(offsets(select(trace, selection, trace.size()).instructions) == expected);
  CHECK(offsets(select(trace, selection, 100).instructions) == expected);
}

}  // namespace

TEST_CASE("an empty selection selects everything") {
  const std::vector<std::byte> trace = trace_of(1000);
  CHECK(Selection{}.everything());
  CHECK(select(trace, {}, 64).instructions.size() == 1000);
}

TEST_CASE("addresses of instructions select instructions") {
  Selection selection;
  selection.ea = {{0xc000000000000000, Selection::kAny}};
  CHECK_FALSE(selection.everything());
  check(selection, [](const Instruction& i) { return i.ea.value >> 62 == 3; });
  selection.ea.clear();
  selection.la = {{0, 0xfffffff}, {0x30000000, 0x3fffffff}};
  check(selection,
        [](const Instruction& i) { return i.la.value <= 0xfffffff || i.la.value >> 28 == 3; });
  selection.la.clear();
  selection.ra = {{0x200000000000, 0x200600000000}};
  check(selection, [](const Instruction& i) { return i.ra.value <= 0x200600000000; });
}

TEST_CASE("one data access must meet all address conditions") {
  Selection selection;
  selection.data_ea = {{0xabcd0000, 0xacccffff}};
  selection.data_la = {{0, 0x1ffffffff}};
  check(selection, [](const Instruction& i) {
    return any_data(i, [](const DataAccess& data) {
      return data.ea.value >= 0xabcd0000 && data.ea.value <= 0xacccffff &&
             data.la.value <= 0x1ffffffff;
    });
  });
}

TEST_CASE("privilege and class select instructions") {
  Selection selection;
  selection.privileges = 1U << static_cast<unsigned>(Privilege::kUser);
  check(selection, [](const Instruction& i) { return i.modes.is(Modes::kPr); });
  selection.privileges = 0;
  selection.classes = 1U << static_cast<unsigned>(InstructionClass::kBranch);
  check(selection, [](const Instruction& i) {
    const uint32_t primary = i.opcode >> 26;
    return !i.has_prefix && (primary == 16 || primary == 18 || primary == 19);
  });
}

TEST_CASE("every, first and last select instructions") {
  const std::vector<std::byte> trace = trace_of(1000);
  const std::vector<uint64_t> all = offsets(decode_all(trace).instructions);
  Selection selection;
  selection.every = 7;
  std::vector<uint64_t> expected;
  for (size_t i = 0; i < all.size(); i += 7) expected.push_back(all.at(i));
  CHECK(offsets(select(trace, selection, 64).instructions) == expected);
  selection.first = 5;
  expected.resize(5);
  CHECK(offsets(select(trace, selection, 64).instructions) == expected);
  selection = {};
  selection.last = 10;
  CHECK(offsets(select(trace, selection, 64).instructions) ==
        std::vector<uint64_t>(all.end() - 10, all.end()));
  selection.last = 0;
  CHECK(select(trace, selection, 64).instructions.empty());
  selection.last = 5000;
  CHECK(offsets(select(trace, selection, 64).instructions) == all);
}

TEST_CASE("stamps give a time window, and two marks give a range") {
  std::vector<uint64_t> words(kPower10IearaWords);
  power10_ieara(words.data(), 0x10000000, 0x10000000);
  auto put = [&](uint64_t ea) {
    words.push_back(power10_info(0x60000000, ea, false, false, kPower10NoOperand));
    words.push_back(power10_msr(0x4000));
  };
  put(0x10000000);
  words.push_back(power10_time(kPower10TimeElapsed, 0, 100));
  put(0x10000004);
  words.push_back(power10_mark(0, 0, 0, 7, false));
  put(0x10000008);
  words.push_back(power10_time(kPower10TimeElapsed, 0, 50));
  put(0x1000000c);
  words.push_back(power10_mark(0, 0, 0, 8, false));
  words.push_back(power10_time(kPower10TimeElapsed, 0, 50));
  put(0x10000010);
  const std::vector<std::byte> trace = generator::bytes_of(words);
  auto chosen = [&](const Selection& selection) {
    std::string text;
    for (const Instruction& i : select(trace, selection, 8).instructions) {
      text += fmt::format("{:x}", i.ea.value & 0xff);
    }
    return text;
  };
  Selection selection;
  selection.ticks = {100, 150};
  CHECK(chosen(selection) == "48c");
  CHECK(select(trace, selection, 8).stamps.size() == 5);
  selection.ticks = {151, Selection::kAny};
  CHECK(chosen(selection) == "10");
  selection = {};
  selection.from_mark = 7;
  CHECK(chosen(selection) == "8c10");
  selection.to_mark = 8;
  CHECK(chosen(selection) == "8c");
  selection.from_mark.reset();
  CHECK(chosen(selection) == "048c");
}

TEST_CASE("an unknown value meets no condition") {
  Instruction instruction;
  Selection selection;
  selection.ea = {{0, Selection::kAny}};
  CHECK_FALSE(Selector(selection).take(instruction));
  instruction.has_ea = true;
  CHECK(Selector(selection).take(instruction));
  selection.privileges = ~0U;
  CHECK_FALSE(Selector(selection).take(instruction));
  instruction.modes = {Modes::kHv, Modes::kHv | Modes::kIr};  // as a POWER8 trace states them
  CHECK_FALSE(Selector(selection).take(instruction));
  instruction.modes = {Modes::kHv | Modes::kS, Modes::kAll};
  selection.privileges = 1U << static_cast<unsigned>(Privilege::kUltravisor);
  CHECK(Selector(selection).take(instruction));
}

TEST_CASE("ranges are parsed as users write them") {
  auto same = [](const char* text, uint64_t first, uint64_t last) {
    const auto range = parse_range(text);
    return range && range->first == first && range->last == last;
  };
  CHECK(same("1000-1fff", 0x1000, 0x1fff));
  CHECK(same("0x1000+4K", 0x1000, 0x1fff));
  CHECK(same("0x1000+0x10", 0x1000, 0x100f));
  CHECK(same("c000000000000000", 0xc000000000000000, 0xc000000000000000));
  CHECK(same("0-ffffffffffffffff", 0, ~uint64_t{0}));
  CHECK(same("ffffffffffffffff+1", ~uint64_t{0}, ~uint64_t{0}));
  for (const char* text : {"", "-", "+", "10-", "20-10", "10+0", "10+4Q", "xyz", "10-20-30",
                           "ffffffffffffffff+2", "10000000000000000", " 10", "1 0"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_range(text));
  }
}

}  // namespace htmtrace
