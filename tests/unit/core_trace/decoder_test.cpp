// SPDX-License-Identifier: GPL-2.0-or-later
// Decodes generated traces of known content, also in pieces, and checks the counts.
#include "core/core_trace/decoder.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>

#include "tests/encoder/power10.h"
#include "tests/generator/generated_trace.h"
#include "tests/unit/decoded_text.h"
#include "tests/unit/rounds.h"

namespace htmtrace {
namespace {

using generator::bytes_of;

struct Trace {
  std::vector<std::byte> bytes;
  std::vector<std::string> lines;
};

template <class Program>
Trace generate(uint64_t seed, unsigned instructions, generator::Options options) {
  Program program(seed, options);
  Trace trace;
  std::vector<uint64_t> words;
  for (unsigned i = 0; i < instructions; i++) trace.lines.push_back(program.next(words, true));
  trace.bytes = bytes_of(words);
  return trace;
}

TranslationMap own_map() {
  return {generator::translation_file(), 0};
}

void check_whole(const Trace& trace, const Decoded& decoded) {
  REQUIRE(decoded.lines.instructions.size() == trace.lines.size());
  for (size_t i = 0; i < trace.lines.size(); i++) {
    REQUIRE(decoded.lines.instructions[i] == trace.lines[i]);
  }
  CHECK(decoded.statistics.defect_count() == 0);
  CHECK(decoded.statistics.untranslated == 0);
  CHECK(decoded.statistics.bytes == trace.bytes.size());
  CHECK(decoded.statistics.accounted_bytes() == trace.bytes.size());
}

template <class Program>
void check_pieces() {
  const TranslationMap map = own_map();
  for (uint64_t seed = 0; seed < 4; seed++) {
    const Trace trace = generate<Program>(seed, 500, {.stamps_per_mille = 60});
    const Decoded whole = decode_lines(trace.bytes, map);
    for (const std::vector<size_t>& pieces : std::vector<std::vector<size_t>>{
             {1}, {3}, {8}, {16}, {24, 8, 40}, {63, 65}, {1, 2, 3, 5, 7, 11, 13, 400}, {4096}}) {
      CHECK(decode_lines(trace.bytes, map, pieces).lines.all == whole.lines.all);
    }
  }
}

}  // namespace

TEST_CASE("random POWER10 traces decode to the generated instructions") {
  const TranslationMap map = own_map();
  for (uint64_t seed = 0; seed < rounds(10); seed++) {
    const Trace trace = generate<generator::Power10Program>(seed, 3000, {});
    check_whole(trace, decode_lines(trace.bytes, map));
  }
}

TEST_CASE("random POWER8 traces decode to the generated instructions") {
  const TranslationMap map = own_map();
  for (uint64_t seed = 0; seed < rounds(10); seed++) {
    const Trace trace = generate<generator::Power8Program>(seed, 3000, {});
    check_whole(trace, decode_lines(trace.bytes, map));
  }
}

TEST_CASE("many stamps and companions do not change the decoded instructions") {
  const TranslationMap map = own_map();
  const Trace trace = generate<generator::Power10Program>(7, 1000, {.stamps_per_mille = 500});
  const Decoded decoded = decode_lines(trace.bytes, map);
  check_whole(trace, decoded);
  CHECK(decoded.statistics.companions > 100);
}

TEST_CASE("the cut of a trace into pieces does not change the result") {
  check_pieces<generator::Power10Program>();
  check_pieces<generator::Power8Program>();
}

TEST_CASE("damage decodes equally in any pieces, and every byte is accounted for") {
  const TranslationMap map = own_map();
  generator::Random random(3);
  for (uint64_t seed = 0; seed < rounds(40); seed++) {
    const bool power8 = seed % 2 == 0;
    Trace trace = power8 ? generate<generator::Power8Program>(seed, 200, {})
                         : generate<generator::Power10Program>(seed, 200, {});
    for (int i = 0; i < 40; i++) {
      trace.bytes[random.below(trace.bytes.size())] ^= static_cast<std::byte>(random.next());
    }
    trace.bytes.resize(trace.bytes.size() - random.below(100));
    const Decoded whole = decode_lines(trace.bytes, map);
    CHECK(whole.statistics.defect_count() != 0);
    CHECK(whole.statistics.accounted_bytes() == trace.bytes.size());
    for (const size_t piece : {1, 8, 20, 56}) {
      CHECK(decode_lines(trace.bytes, map, {piece}).lines.all == whole.lines.all);
    }
  }
}

TEST_CASE("after damage the decoder synchronizes again") {
  const TranslationMap map = own_map();
  const Trace trace = generate<generator::Power10Program>(1, 400, {});
  for (size_t cut = 8; cut < 1600; cut += 8) {
    const std::vector<std::string> lines =
        decode_lines(std::span(trace.bytes).subspan(cut), map).lines.instructions;
    REQUIRE(lines.size() <= trace.lines.size());
    // The ends agree, and all but a few instructions have their addresses again.
    size_t unknown = 0;
    for (size_t i = 1; i <= lines.size(); i++) {
      const std::string& line = lines[lines.size() - i];
      // An unknown address is omitted, not wrong.
      if (line.starts_with("ea=-")) {
        unknown++;
      } else if (line != trace.lines[trace.lines.size() - i]) {
        FAIL("cut at ", cut, ": ", line);
      }
    }
    REQUIRE(lines.size() + cut / words::kWordBytes >= trace.lines.size());
    REQUIRE(unknown < 40);
  }
}

TEST_CASE("each instruction of a line has its own offset, independent of its predecessor") {
  uint64_t line[kPower10IearaWords];
  power10_ieara(line, 0x10000000, 0x20000000);
  std::vector<uint64_t> words(std::begin(line), std::end(line));
  for (uint64_t i = 0; i < 20; i++) {
    // The first bit exceeds the range of a line, and was only seen clear.
    const uint64_t beyond = i == 3 ? 0x80 : 0;
    words.push_back(beyond | power10_info(0x60000000, i * 4, false, false, kPower10NoOperand));
    words.push_back(power10_msr(0x8000000000009033));
  }
  const TranslationMap map;
  const Decoded decoded = decode_lines(bytes_of(words), map);
  REQUIRE(decoded.lines.instructions.size() == 20);
  CHECK(decoded.lines.instructions[3].starts_with("ea=000000001000008c"));
  CHECK(decoded.lines.instructions[4].starts_with("ea=0000000010000010"));
  CHECK(decode_lines(bytes_of(words), map, {8}).lines.all == decoded.lines.all);
}

namespace {

struct ModesSink {
  void instruction(const Instruction& instruction) {
    count++;
    last = instruction.modes;
  }
  void stamp(const Stamp&) {}
  void defect(const Defect& defect) { defects.push_back(defect); }
  uint64_t count = 0;
  Modes last;
  std::vector<Defect> defects;
};

}  // namespace

TEST_CASE("an instruction without its MSR at the end of the trace is kept without modes") {
  uint64_t line[kPower10IearaWords];
  power10_ieara(line, 0x10000000, 0x20000000);
  std::vector<uint64_t> words(std::begin(line), std::end(line));
  words.push_back(power10_info(0x60000000, 0, false, false, kPower10NoOperand));
  words.push_back(power10_msr(0x9000000000009033));  // an MSR of the hypervisor
  words.push_back(power10_info(0x7c3f4840, 4, false, false, kPower10NoOperand));
  const std::vector<std::byte> trace = bytes_of(words);
  const TranslationMap map;
  for (const bool walks : {false, true}) {
    for (const size_t piece : {size_t{1}, size_t{7}, size_t{8}, size_t{24}, trace.size()}) {
      ModesSink sink;
      CoreDecoder decoder(map, sink);
      if (walks) decoder.follow_walks();
      for (size_t at = 0; at < trace.size(); at += piece) {
        decoder.feed(std::span(trace).subspan(at, std::min(piece, trace.size() - at)));
      }
      decoder.finish();
      CHECK(sink.count == 2);
      CHECK(sink.last.known == 0);
      CHECK(privilege_of(sink.last) == Privilege::kUnknown);
      CHECK(sink.defects == std::vector<Defect>{{trace.size(), 0, DefectReason::kCutByEnd}});
      CHECK(decoder.statistics().incomplete());
      CHECK(decoder.statistics().accounted_bytes() == trace.size());
    }
  }
}

TEST_CASE("filler and foreign content are counted") {
  const TranslationMap map;
  const Decoded zeros = decode_lines(std::vector<std::byte>(4096), map);
  CHECK(zeros.statistics.filler_words == 512);
  CHECK_FALSE(zeros.statistics.incomplete());
  CHECK_FALSE(zeros.statistics.no_tags());
  const Decoded other = decode_lines(std::vector<std::byte>(4096, std::byte{0x55}), map);
  CHECK(other.statistics.no_tags());
  CHECK(other.statistics.unknown_words == 512);
  CHECK(other.statistics.defect_count() == 1);
  CHECK_FALSE(decode_lines({}, map).statistics.incomplete());
}

TEST_CASE("decoding stops at the instruction limit") {
  const Trace trace = generate<generator::Power10Program>(1, 100, {});
  const TranslationMap map = own_map();
  LineSink lines;
  CoreDecoder decoder(map, lines);
  decoder.set_instruction_limit(10);
  decoder.feed(trace.bytes);
  decoder.finish();
  CHECK(decoder.finished());
  CHECK(lines.instructions.size() == 10);
}

}  // namespace htmtrace
