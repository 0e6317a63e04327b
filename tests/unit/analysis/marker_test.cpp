// SPDX-License-Identifier: GPL-2.0-or-later
// The marker of `htmtrace locate`, and the search for it in encoded traces.
#include "core/analysis/marker.h"

#include <doctest/doctest.h>

#include <array>
#include <random>
#include <set>
#include <vector>

#include "core/core_trace/decoder.h"
#include "core/memory_map/translation.h"
#include "tests/encoder/power10.h"
#include "tests/encoder/power8.h"
#include "tests/unit/instruction_run.h"

using namespace htmtrace;

namespace {

constexpr uint64_t kUserMsr = 0x800000000280f033;
constexpr uint64_t kCodeEa = 0x7fff80000000;

std::vector<Marker> some_markers(size_t count, unsigned seed = 1) {
  std::mt19937 random(seed);
  return make_markers(count, [&] { return static_cast<uint32_t>(random()); });
}

// A POWER10 trace.
class Trace {
 public:
  void run(uint64_t ea, uint32_t opcode) {
    if (ea / kPower10LineBytes != line_) put_line(ea);
    put(power10_info(opcode, ea, false, false, kPower10NoOperand));
    put(power10_msr(kUserMsr));
  }
  void run(uint64_t ea, const Marker& marker) {
    for (const uint32_t word : marker.words) {
      run(ea, word);
      ea += sizeof(word);
    }
  }
  void put_line(uint64_t ea) {
    std::array<uint64_t, kPower10IearaWords> words{};
    power10_ieara(words.data(), ea, ea & 0xfffffff);
    for (const uint64_t word : words) put(word);
    line_ = ea / kPower10LineBytes;
  }
  void put(uint64_t word) {
    for (int shift = 56; shift >= 0; shift -= 8)
      bytes_.push_back(static_cast<std::byte>(word >> shift));
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
  uint64_t line_ = 0;
};

MarkerSearch search(std::span<const Marker> markers, std::span<const std::byte> trace,
                    size_t piece_bytes = 1 << 20) {
  const TranslationMap map;
  MarkerSearch found(markers);
  CoreDecoder decoder(map, found);
  while (!trace.empty()) {
    const auto piece = trace.first(std::min(trace.size(), piece_bytes));
    decoder.feed(piece);
    trace = trace.subspan(piece.size());
  }
  decoder.finish();
  return found;
}

}  // namespace

TEST_CASE("a marker consists of li and lis to registers that a function may change") {
  std::set<uint32_t> words;
  unsigned high = 0;
  const auto markers = some_markers(40);
  for (const Marker& marker : markers) {
    for (const uint32_t word : marker.words) {
      const uint32_t opcode = word >> 26, target = word >> 21 & 31, source = word >> 16 & 31;
      CHECK((opcode == 14 || opcode == 15));
      CHECK(source == 0);
      CHECK(target >= 4);
      CHECK(target <= 11);
      high += opcode == 15;
      words.insert(word);
    }
  }
  CHECK(words.size() == 40 * Marker::kWords);  // the markers share no word
  CHECK(high > 40 * Marker::kWords / 3);
  CHECK(some_markers(1, 1) != some_markers(1, 2));
}

TEST_CASE("a random source that repeats itself gives no word twice") {
  uint32_t calls = 0;
  const auto markers = make_markers(2, [&] { return calls++ / 3; });
  CHECK(markers[0] != markers[1]);
  CHECK(calls >= 3 * (2 * Marker::kWords - 1));
}

TEST_CASE("the function of a marker runs it in a loop") {
  const Marker marker = some_markers(1).front();
  const std::vector<uint32_t> code = marker_function(marker);
  REQUIRE(code.size() == Marker::kWords + 3);
  CHECK(code[0] == 0x7c6903a6);  // mtctr r3
  CHECK(code[1] == marker.words[0]);
  CHECK(code[Marker::kWords] == marker.words.back());
  CHECK(code[Marker::kWords + 1] == 0x4200ff80);  // bdnz, back by 32 words
  CHECK(code[Marker::kWords + 2] == 0x4e800020);  // blr
}

TEST_CASE("each marker in a POWER10 trace is counted") {
  const auto markers = some_markers(3);
  Trace trace;
  for (int i = 0; i < 5; i++) {
    trace.run(kCodeEa, markers[0]);
    trace.run(0x10000000, kNop);
    if (i < 2) trace.run(kCodeEa + 0x1000, markers[2]);
  }
  for (const size_t piece_bytes : {1 << 20, 24, 7}) {
    const MarkerSearch found = search(markers, trace.bytes(), piece_bytes);
    CHECK(found.passes(0) == 5);
    CHECK(found.passes(1) == 0);
    CHECK(found.passes(2) == 2);
  }
}

TEST_CASE("a marker in a POWER8 trace is counted") {
  const auto markers = some_markers(2);
  Trace trace;
  for (const uint32_t word : markers[1].words) trace.put(power8_info(word, false, false, true, 0));
  CHECK(search(markers, trace.bytes()).passes(0) == 0);
  CHECK(search(markers, trace.bytes()).passes(1) == 1);
}

TEST_CASE("stamps within a marker do not matter") {
  const auto markers = some_markers(1);
  Trace trace;
  for (size_t i = 0; i < Marker::kWords; i++) {
    trace.run(kCodeEa + 4 * i, markers[0].words[i]);
    trace.put(power10_time(kPower10TimeElapsed, 0, 7));
  }
  CHECK(search(markers, trace.bytes()).passes(0) == 1);
}

TEST_CASE("a marker with one other, missing or additional instruction does not count") {
  const auto markers = some_markers(2);
  for (size_t at = 0; at < Marker::kWords; at++) {
    Trace other, missing, additional;
    for (size_t i = 0; i < Marker::kWords; i++) {
      const uint64_t ea = kCodeEa + 4 * i;
      const uint32_t word = markers[0].words[i];
      other.run(ea, i == at ? word ^ 1 : word);
      if (i != at) missing.run(ea, word);
      additional.run(ea, word);
      // The last instruction is complete before the additional one.
      if (i == at && i + 1 < Marker::kWords) additional.run(0x10000000, markers[1].words[0]);
    }
    CHECK(search(markers, other.bytes()).passes(0) == 0);
    CHECK(search(markers, missing.bytes()).passes(0) == 0);
    CHECK(search(markers, additional.bytes()).passes(0) == (at + 1 == Marker::kWords ? 1 : 0));
  }
}

TEST_CASE("a marker that begins again within itself is found") {
  const auto markers = some_markers(1);
  Trace trace;
  for (size_t i = 0; i < 5; i++) trace.run(kCodeEa + 4 * i, markers[0].words[i]);
  trace.run(kCodeEa, markers[0]);
  CHECK(search(markers, trace.bytes()).passes(0) == 1);
}

TEST_CASE("a damaged part of the trace interrupts a marker") {
  const auto markers = some_markers(1);
  Trace trace;
  for (size_t i = 0; i < Marker::kWords; i++) {
    trace.run(kCodeEa + 4 * i, markers[0].words[i]);
    if (i == 9) trace.put(0x123456789);
  }
  trace.put_line(kCodeEa);
  CHECK(search(markers, trace.bytes()).passes(0) == 0);
}

TEST_CASE("a random trace of li and lis holds no marker") {
  const auto markers = some_markers(4, 3);
  Trace trace;
  for (const Marker& marker : some_markers(300, 4)) trace.run(kCodeEa, marker);
  const MarkerSearch found = search(markers, trace.bytes());
  for (size_t i = 0; i < markers.size(); i++) CHECK(found.passes(i) == 0);
}
