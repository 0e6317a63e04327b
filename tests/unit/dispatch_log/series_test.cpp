// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/dispatch_log/series.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "core/dispatch_log/blocks.h"
#include "output/print/dtl_series_text.h"
#include "output/recording/dispatches.h"
#include "tests/generator/plausible_dispatches.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {
namespace {

using Entries = std::vector<DtlEntry>;

constexpr uint64_t kMilli = 512'000;  // ticks of a millisecond
constexpr DtlClock kClock{.boot_timebase = 1000, .ticks_per_second = 1000 * kMilli};
constexpr ProcessorBits kBits{.chip = 2, .node = 4};

DtlEntry dispatch(uint64_t milliseconds, uint16_t processor, uint32_t waited, uint8_t reason = 2) {
  return {.preempt_reason = reason,
          .processor_id = processor,
          .enqueue_to_dispatch = waited,
          .ready_to_enqueue = 10,
          .timebase = kClock.boot_timebase + milliseconds * kMilli};
}

struct Series {
  explicit Series(uint64_t length_ns, std::optional<ProcessorBits> bits = kBits,
                  int64_t most = 1000)
      : room(most), of({length_ns}, bits, room) {}

  std::atomic<int64_t> room;
  DtlSeries of;
};

std::string text_of(const DtlSeries& series, uint64_t length_ns, DtlFormat format,
                    bool distances = true) {
  TextOutput output = TextOutput::memory();
  DtlSeriesText{
      .clock = kClock, .intervals = {length_ns}, .distances = distances, .cpus = {{3, &series}}}
      .print(output, format);
  return std::string(output.text());
}

constexpr uint64_t kSecondNs = 1'000'000'000;

}  // namespace

TEST_CASE("a dispatch counts in its interval, with the preceding wait") {
  Series series(kSecondNs);
  // The first tick of the second interval does not belong to the first interval.
  const Entries entries{dispatch(999, 0, 5), dispatch(1000, 1, 11 * kMilli, 4),
                        dispatch(1999, 4, 7, 4), dispatch(3000, 16, 9)};
  series.of.add(entries, kClock);
  const auto points = series.of.points();
  REQUIRE(points.size() == 3);
  CHECK(points[0].interval == 0);
  CHECK(points[0].dispatches == 1);
  CHECK(points[0].moved == 0);
  CHECK(points[1].interval == 1);
  CHECK(points[1].dispatches == 2);
  CHECK(points[1].preempted == 2);
  CHECK(points[1].stolen == 11 * kMilli + 7 + 20);
  CHECK(points[1].late == 1);
  CHECK(points[1].longest == 11 * kMilli);
  CHECK(points[1].moved == 2);
  CHECK(points[1].same_chip == 1);
  CHECK(points[1].same_node == 1);
  CHECK(points[2].interval == 3);
  CHECK(points[2].moved == 1);
  CHECK(points[2].same_chip + points[2].same_node == 0);
}

TEST_CASE("intervals are printed as a table, as CSV and as JSON") {
  Series series(kSecondNs);
  series.of.add(Entries{dispatch(500, 0, 512, 4), dispatch(1500, 1, 11 * kMilli)}, kClock);
  CHECK(text_of(series.of, kSecondNs, DtlFormat::kCsv) ==
        "time_ns,interval_ns,cpu,dispatches,preempted,stolen_ns,longest_wait_ns,late,moved,"
        "same_chip,same_node,elsewhere\n"
        "0,1000000000,3,1,1,1019,1000,0,0,0,0,0\n"
        "1000000000,1000000000,3,1,0,11000019,11000000,1,1,1,0,0\n");
  CHECK(text_of(series.of, kSecondNs, DtlFormat::kJson, false)
            .starts_with(R"({"time_ns":0,"interval_ns":1000000000,"cpu":3,"dispatches":1,)"
                         R"("preempted":1,"stolen_ns":1019,"longest_wait_ns":1000,"late":0,)"
                         R"("moved":0,"same_chip":null,"same_node":null,"elsewhere":null})"
                         "\n"));
  const std::string table = text_of(series.of, kSecondNs, DtlFormat::kText);
  CAPTURE(table);
  // Half of the second interval is recorded.
  CHECK(table.find("1.000000000           1          0     2.20 %         3: 2.20 %") !=
        std::string::npos);
}

TEST_CASE("an out-of-order entry is counted in its interval") {
  Series series(kSecondNs);
  series.of.add(Entries{dispatch(5000, 0, 1), dispatch(2000, 0, 1), dispatch(5001, 0, 1),
                        dispatch(2001, 0, 1)},
                kClock);
  // A time earlier than boot, and the last possible time.
  series.of.add(Entries{{.timebase = 1}, {.timebase = UINT64_MAX}}, kClock);
  const auto points = series.of.points();
  REQUIRE(points.size() == 4);
  CHECK(points[0].interval == 0);
  CHECK(points[1].interval == 2);
  CHECK(points[1].dispatches == 2);
  CHECK(points[2].dispatches == 2);
  CHECK(std::ranges::is_sorted(points, {}, &DtlPoint::interval));
}

TEST_CASE("intervals beyond the limit are left out and reported") {
  Series series(1'000'000, kBits, 2);
  Entries entries;
  for (uint64_t i = 0; i < 10; i++) entries.push_back(dispatch(i, 0, 1));
  entries.push_back(dispatch(1, 0, 1));
  series.of.add(entries, kClock);
  CHECK(series.of.points().size() == 2);
  CHECK(series.of.points()[1].dispatches == 2);
  CHECK(series.of.left_out() == 8);
}

TEST_CASE("without a clock no intervals exist") {
  Series series(kSecondNs);
  series.of.add(Entries{dispatch(1, 0, 1)}, DtlClock{});
  CHECK(series.of.points().empty());
  CHECK(text_of(series.of, kSecondNs, DtlFormat::kText).find('%') == std::string::npos);
}

// Statistics replace the entries of a group within one interval. The result is that of the entries.
TEST_CASE("a series from statistics equals the series from the entries") {
  TemporaryFolder folder;
  const auto path = folder.path() / "log.dtl";
  {
    std::ofstream file(path, std::ios::binary);
    const auto put = [&](const std::vector<std::byte>& bytes) {
      file.write(reinterpret_cast<const char*>(bytes.data()),
                 static_cast<std::streamsize>(bytes.size()));
    };
    put(make_dtl_text_block(DtlBlockKind::kStart, "event all\n"));
    put(make_dtl_clock_block({.boot_timebase = 5, .ticks_per_second = kClock.ticks_per_second}));
    for (const uint16_t cpu : {uint16_t{0}, uint16_t{1}}) {
      generator::PlausibleDispatches processor(cpu + 7U);
      DtlCpuBlocks blocks(cpu, 4000);
      std::vector<std::byte> bytes;
      for (int block = 0; block < 20; block++) {
        Entries entries(1000);
        for (DtlEntry& entry : entries) entry = processor.next();
        blocks.add(entries, kClock.ticks_per_second, bytes);
      }
      blocks.finish(bytes);
      put(bytes);
    }
  }
  // Shorter than a group, shorter than two groups, and longer than all groups.
  for (const uint64_t length_ns : {uint64_t{1'000'000}, 5 * kSecondNs, 1000 * kSecondNs}) {
    const DtlIntervals intervals{length_ns};
    std::map<DtlStatisticsUse, std::string> result;
    uint64_t passed_by = 0;
    for (const auto use :
         {DtlStatisticsUse::kNone, DtlStatisticsUse::kTrust, DtlStatisticsUse::kCheck}) {
      DtlReader reader(InputFile::open(path), use);
      std::atomic<int64_t> room = 1'000'000;
      std::map<int, DtlSeries> series;
      while (const auto block =
                 reader.next({.cpus = {}, .from_ns = {}, .to_ns = {}, .intervals = intervals})) {
        DtlSeries& of = series.try_emplace(block->cpu, intervals, kBits, room).first->second;
        if (block->statistics != nullptr) {
          of.add(*block->statistics, reader.clock());
        } else {
          of.add(block->entries, reader.clock());
        }
      }
      if (use == DtlStatisticsUse::kTrust) passed_by = reader.passed_by();
      TextOutput output = TextOutput::memory();
      DtlSeriesText text{
          .clock = reader.clock(), .intervals = intervals, .distances = true, .cpus = {}};
      for (const auto& [cpu, of] : series) text.cpus.emplace_back(cpu, &of);
      text.print(output, DtlFormat::kCsv);
      text.print(output, DtlFormat::kText);
      result[use] = output.text();
    }
    CAPTURE(length_ns);
    CHECK(result[DtlStatisticsUse::kTrust] == result[DtlStatisticsUse::kNone]);
    CHECK(result[DtlStatisticsUse::kCheck] == result[DtlStatisticsUse::kNone]);
    CHECK((passed_by != 0) == (length_ns != 1'000'000));
  }
}

}  // namespace htmtrace
