// SPDX-License-Identifier: GPL-2.0-or-later
// Reads perf.data files in every form, and reports damage.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "core/base/error.h"
#include "core/perf_data/file.h"
#include "tests/generator/generated_trace.h"
#include "tests/generator/perf_data_file.h"
#include "tests/unit/rounds.h"

namespace htmtrace {
namespace {

using Bytes = std::vector<std::byte>;
using generator::PerfDataFile;

constexpr uint64_t kCore4 = 0x400002;  // node 0, chip 0, core 4
constexpr uint64_t kChip1 = 0x001001;  // the bus of chip 1

Bytes some_bytes(size_t size, uint64_t seed) {
  generator::Random random(seed);
  Bytes bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next());
  return bytes;
}

PerfDataContent find(std::span<const std::byte> file) {
  return find_traces(file.size(), [file](uint64_t offset, std::span<std::byte> buffer) {
    if (offset > file.size()) return size_t{0};
    const size_t got = std::min<size_t>(buffer.size(), file.size() - offset);
    if (got != 0) std::memcpy(buffer.data(), file.data() + offset, got);
    return got;
  });
}

Bytes cut_out(std::span<const std::byte> file, const std::vector<FileExtent>& extents) {
  Bytes bytes;
  for (const FileExtent& extent : extents) {
    const auto piece = file.subspan(extent.offset, extent.size_bytes);
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  }
  return bytes;
}

std::vector<PerfDataFile::Event> one_core() {
  return {{.config = kCore4, .cpu = 8}};
}

bool tells(const std::vector<std::string>& missing, const std::string& text) {
  return std::any_of(missing.begin(), missing.end(),
                     [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

}  // namespace

TEST_CASE("a trace and its map are read for each driver and either byte order") {
  const Bytes trace = some_bytes(70000, 1);
  const Bytes map = generator::translation_file();
  for (const bool big_endian : {false, true}) {
    for (const bool first : {false, true}) {
      CAPTURE(big_endian);
      CAPTURE(first);
      PerfDataFile writer(one_core(), {.big_endian = big_endian, .pairs = !first});
      if (first) {
        writer.deliver_first(0, trace, map, 16384);
      } else {
        writer.deliver(0, trace, map, 5000);
      }
      const Bytes file = writer.finish();
      CHECK(is_perf_data(file));
      const PerfDataContent content = find(file);
      REQUIRE(content.traces.size() == 1);
      const PerfDataTrace& found = content.traces.front();
      CHECK(found.target == TraceTarget{0, 0, 4, HtmType::kCore});
      Bytes expected = trace;
      if (first) expected.resize(size_t{5} * 16384);  // this driver delivers whole areas
      CHECK(cut_out(file, found.trace) == expected);
      CHECK(cut_out(file, found.map) == map);
      CHECK(found.missing.empty());
      CHECK(content.missing.empty());
    }
  }
}

TEST_CASE("several targets are separated by the pairs or by the records") {
  const Bytes core = some_bytes(9000, 2);
  const Bytes bus = some_bytes(12800, 3);
  const Bytes map = generator::translation_file();
  for (const bool pairs : {false, true}) {
    CAPTURE(pairs);
    PerfDataFile writer({{.config = kCore4, .cpu = 8},
                         {.config = kChip1, .cpu = 16, .name = "htm/htm_nest/"},
                         {.config = 9, .cpu = 0, .pmu = 1, .name = "dummy:u"}},
                        {.pairs = pairs});
    writer.deliver(1, bus, {}, 4096);
    writer.deliver(0, core, map, 4096);
    const Bytes file = writer.finish();
    const PerfDataContent content = find(file);
    REQUIRE(content.traces.size() == 2);
    CHECK(content.traces.at(0).target == TraceTarget{0, 0, 4, HtmType::kCore});
    CHECK(content.traces.at(1).target == TraceTarget{0, 1, 0, HtmType::kNest});
    CHECK(cut_out(file, content.traces.at(0).trace) == core);
    CHECK(cut_out(file, content.traces.at(0).map) == map);
    CHECK(cut_out(file, content.traces.at(1).trace) == bus);
    CHECK(content.traces.at(1).map.empty());
    CHECK(content.missing.empty());
  }
}

TEST_CASE("missing parts are reported") {
  const Bytes trace = some_bytes(8192, 4);
  const auto piece = [&](size_t at) { return std::span(trace).subspan(at, 1024); };
  PerfDataFile writer(one_core(), {});
  writer.aux(0, 0, 1024, 1 | 4 | 8);
  writer.auxtrace(0, 3072, piece(3072));  // out of order
  writer.auxtrace(0, 0, piece(0));
  writer.auxtrace(0, 512, piece(512));  // repeats half of the preceding piece
  writer.lost(3);
  writer.record(13, Bytes(32));  // LOST_SAMPLES with a count of 0
  writer.record(83, Bytes(16));  // compressed
  writer.sample(0, some_bytes(40, 5));
  const Bytes file = writer.finish();
  const PerfDataContent content = find(file);
  REQUIRE(content.traces.size() == 1);
  const PerfDataTrace& found = content.traces.front();
  Bytes expected(trace.begin(), trace.begin() + 1536);
  expected.insert(expected.end(), trace.begin() + 3072, trace.begin() + 4096);
  CHECK(cut_out(file, found.trace) == expected);
  CHECK(tells(found.missing, "1536 bytes of AUX data, the first at 0x600"));
  CHECK(tells(found.missing, "TRUNCATED"));
  CHECK(tells(found.missing, "PARTIAL"));
  CHECK(tells(found.missing, "COLLISION"));
  CHECK(tells(content.missing, "3 records were lost"));
  CHECK(tells(content.missing, "1 compressed records"));
  CHECK(tells(content.missing, "1 samples hold other data"));
}

TEST_CASE("a file that perf did not finish is read") {
  const Bytes trace = some_bytes(4096, 6);
  PerfDataFile writer(one_core(), {.unfinished = true});
  writer.deliver(0, trace, {}, 4096);
  const Bytes file = writer.finish();
  const PerfDataContent content = find(file);
  REQUIRE(content.traces.size() == 1);
  CHECK(cut_out(file, content.traces.front().trace) == trace);
  CHECK(tells(content.missing, "did not finish"));

  PerfDataFile nameless(one_core(), {.unfinished = true, .pairs = false});
  nameless.deliver(0, trace, {}, 4096);
  CHECK_THROWS_AS(find(nameless.finish()), Error);
}

TEST_CASE("files without an htm event are rejected") {
  CHECK_FALSE(is_perf_data(some_bytes(4096, 7)));
  CHECK_FALSE(is_perf_data({}));
  CHECK_THROWS_AS(find(some_bytes(4096, 7)), Error);
  PerfDataFile other({{.config = 1, .pmu = 1, .name = "cycles"}}, {.pairs = false});
  CHECK_THROWS_AS(find(other.finish()), Error);
  Bytes pipe = PerfDataFile(one_core(), {}).finish();
  pipe.at(8) = std::byte{16};
  CHECK_THROWS_AS(find(pipe), Error);
}

TEST_CASE("truncated files and files with random changes are read safely") {
  const Bytes trace = some_bytes(3000, 8);
  const Bytes map = generator::translation_file();
  for (const bool first : {false, true}) {
    PerfDataFile writer(one_core(), {.big_endian = first, .pairs = !first});
    if (first) {
      writer.deliver_first(0, trace, map, 4096);
    } else {
      writer.deliver(0, trace, map, 1000);
    }
    const Bytes whole = writer.finish();
    size_t refused = 0;
    const auto read = [&](const Bytes& file) {
      try {
        for (const PerfDataTrace& found : find(file).traces) {
          for (const auto* extents : {&found.trace, &found.map}) cut_out(file, *extents);
        }
      } catch (const Error&) {
        refused++;
      }
    };
    for (size_t size = 0; size < whole.size(); size += size < 600 ? 1 : 31) {
      read({whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size)});
    }
    generator::Random random(9);
    for (unsigned i = 0; i < rounds(1000); i++) {
      Bytes file = whole;
      for (uint64_t left = 1 + random.below(4); left != 0; left--) {
        // The numbers are at the front of the file, and in the headers of records.
        const uint64_t most = random.chance(500) ? 600 : file.size();
        file.at(random.below(most)) = static_cast<std::byte>(random.next());
      }
      read(file);
    }
    CHECK(refused != 0);
  }
}

}  // namespace htmtrace
