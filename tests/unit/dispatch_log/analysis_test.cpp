// SPDX-License-Identifier: GPL-2.0-or-later
// Compares the analysis of dispatch trace log entries with sums computed by hand.
#include "core/dispatch_log/analysis.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "core/analysis/symbol_table.h"
#include "core/dispatch_log/task_waits.h"
#include "output/report/dtl_summary.h"
#include "output/report/dtl_waits_text.h"

namespace htmtrace {
namespace {

constexpr uint64_t kTicksPerSecond = 512'000'000;

}  // namespace

TEST_CASE("quantiles match the sorted times to within 1/32") {
  std::mt19937 random(3);
  std::vector<uint32_t> times;
  TickHistogram histogram;
  for (int i = 0; i < 5000; i++) {
    const auto time = static_cast<uint32_t>(random()) >> random() % 32;
    times.push_back(time);
    histogram.add(time);
  }
  std::ranges::sort(times);
  for (const unsigned share : {1, 10, 500, 900, 990, 999, 1000}) {
    CAPTURE(share);
    const uint64_t exact = times[(times.size() * share + 999) / 1000 - 1];
    CHECK(histogram.quantile(share) >= exact);
    CHECK(histogram.quantile(share) <= exact + exact / 32);
  }
  CHECK(histogram.most() == times.back());
  CHECK(histogram.quantile(1000) == times.back());
  for (unsigned bits = 0; bits <= 32; bits++) {
    CHECK(histogram.below(bits) ==
          static_cast<uint64_t>(std::ranges::count_if(
              times, [&](uint32_t time) { return time < uint64_t{1} << bits; })));
  }
  CHECK(TickHistogram().quantile(990) == 0);
}

TEST_CASE("the longest time is counted") {
  TickHistogram histogram;
  histogram.add(UINT32_MAX);
  histogram.add(0);
  CHECK(histogram.quantile(500) == 0);
  CHECK(histogram.quantile(501) == UINT32_MAX);
  TickHistogram sum;
  sum.add(histogram);
  sum.add(histogram);
  CHECK(sum.count() == 4);
  CHECK(sum.sum() == uint64_t{2} * UINT32_MAX);
}

TEST_CASE("stolen time, late dispatches and moves are counted") {
  DtlAnalysis analysis;
  DtlPlaces places(ProcessorBits{.chip = 0, .node = 2});
  // Two tenths of a second. The second tenth has more stolen time.
  const uint64_t tenth = kTicksPerSecond / 10;
  const std::vector<DtlEntry> entries{{.dispatch_reason = 3,
                                       .preempt_reason = 2,
                                       .processor_id = 4,
                                       .enqueue_to_dispatch = 100,
                                       .ready_to_enqueue = 10,
                                       .timebase = tenth + 5,
                                       .srr0 = 0x1000},
                                      {.dispatch_reason = 7,
                                       .preempt_reason = 4,
                                       .processor_id = 5,
                                       .enqueue_to_dispatch = 6'000'000,
                                       .ready_to_enqueue = 1,
                                       .timebase = 2 * tenth,
                                       .fault_address = 0x5008,
                                       .srr0 = 0x1000},
                                      {.dispatch_reason = 7,
                                       .preempt_reason = 4,
                                       .processor_id = 4,
                                       .enqueue_to_dispatch = 5'119'999,
                                       .ready_to_enqueue = 1,
                                       .timebase = 3 * tenth - 1,
                                       .fault_address = 0x5ff0,
                                       .srr0 = 0x2000},
                                      {.dispatch_reason = 255,
                                       .preempt_reason = 4,
                                       .processor_id = 4,
                                       .timebase = 3 * tenth + 5,
                                       .srr0 = 0x1000}};
  // The first entry alone, then the remaining entries at once.
  analysis.add(std::span(entries).first(1), 9, kTicksPerSecond, places);
  analysis.add(std::span(entries).subspan(1), 9, kTicksPerSecond, places);
  CHECK(analysis.entries() == 4);
  CHECK(analysis.stolen() == 110 + 6'000'001 + 5'120'000);
  CHECK(analysis.span() == 2 * tenth);
  CHECK(analysis.worst().begin == 2 * tenth);
  CHECK(analysis.worst().stolen == 6'000'001 + 5'120'000);
  CHECK(analysis.late() == 1);  // 10 ms are 5120000 ticks
  CHECK(analysis.moved() == 2);
  CHECK(places.moves.at(4 << 16 | 5).count == 1);
  CHECK(places.moves.at(5 << 16 | 4).count == 1);
  CHECK(places.processors.at(9 << 16 | 4).count == 3);
  CHECK(places.fault_pages.at(5).count == 2);
  CHECK(places.instructions.at(0x1000).count == 3);
  CHECK(analysis.reasons().dispatch[255] == 1);

  DtlAnalysis sum;
  sum.add(analysis);
  sum.add(analysis);
  CHECK(sum.entries() == 8);
  CHECK(sum.span() == 4 * tenth);
  CHECK(sum.stolen() == 2 * analysis.stolen());

  SymbolTable symbols;
  symbols.add({.address = 0xff0, .size_bytes = 0x100, .name = "idle"});
  symbols.finish();
  DtlSummary summary;
  summary.clock = {.boot_timebase = 0, .ticks_per_second = kTicksPerSecond};
  summary.cpus = {{9, &analysis}};
  summary.places = &places;
  summary.distances = true;
  summary.symbols = &symbols;
  const std::string text = summary.to_text();
  for (const char* part :
       {"4 dispatches of 1 virtual processor", "enqueue to dispatch", "11718.750", "idle+0x10",
        "time_slice", "  255 ", "on the same node", "10.86 %", "21.72 % at 0.200 s"}) {
    CAPTURE(part);
    CHECK(text.find(part) != std::string::npos);
  }
}

TEST_CASE("distances of moves and home processors are exact on many processors") {
  constexpr ProcessorBits kBits{.chip = 4, .node = 6};
  constexpr size_t kVirtual = 40, kEach = 3000;
  constexpr uint16_t kPhysical = 256;
  std::mt19937 random(8);
  std::vector<DtlAnalysis> analyses(kVirtual);
  DtlPlaces here(kBits), there(kBits);
  DtlPlaces::Distances expected;
  for (size_t cpu = 0; cpu < kVirtual; cpu++) {
    std::vector<DtlEntry> entries(kEach);
    for (size_t i = 0; i < kEach; i++) {
      entries[i].timebase = i + 1;
      entries[i].processor_id = static_cast<uint16_t>(random() % kPhysical);
      // Each virtual processor is at home for a fifth of its time.
      if (i % 5 == 0) entries[i].processor_id = static_cast<uint16_t>(cpu);
      if (i == 0 || entries[i].processor_id == entries[i - 1].processor_id) continue;
      const unsigned from = entries[i - 1].processor_id, to = entries[i].processor_id;
      (from >> 4 == to >> 4   ? expected.same_chip
       : from >> 6 == to >> 6 ? expected.same_node
                              : expected.elsewhere)++;
    }
    analyses[cpu].add(entries, static_cast<int>(cpu), kTicksPerSecond, cpu % 2 == 0 ? here : there);
  }
  here.add(there);
  REQUIRE(here.moves.error() != 0);
  CHECK(here.distances().same_chip == expected.same_chip);
  CHECK(here.distances().same_node == expected.same_node);
  CHECK(here.distances().elsewhere == expected.elsewhere);
  CHECK(here.processors.error() == 0);
  DtlSummary summary;
  for (size_t cpu = 0; cpu < kVirtual; cpu++) {
    summary.cpus.emplace_back(static_cast<int>(cpu), &analyses[cpu]);
  }
  summary.places = &here;
  const std::string text = summary.to_text();
  for (size_t cpu = 0; cpu < kVirtual; cpu++) {
    CHECK(text.find(" %  " + std::to_string(cpu) + " (20") != std::string::npos);
  }
}

TEST_CASE("merged tables of several threads state their maximum error") {
  DtlPlaces sum, part;
  DtlTaskWaits waits, other;
  std::vector<DtlEntry> entries(1);
  for (uint32_t i = 0; i < 5000; i++) {
    part.instructions.at(i).count++;
    entries[0].enqueue_to_dispatch = i;
    const std::vector<DtlTask> tasks{{.pid = i + 1, .tid = i + 1}};
    other.add(entries, tasks);
  }
  REQUIRE(part.instructions.error() == 1);
  sum.add(part);
  CHECK(sum.instructions.error() == 1);
  REQUIRE(other.tasks()->error() != 0);
  waits.add(other);
  CHECK(waits.tasks()->error() == other.tasks()->error());
}

TEST_CASE("each of the three waits is shown for each virtual processor and for all") {
  constexpr DtlClock kTicksOfAMicrosecond{.boot_timebase = 0, .ticks_per_second = 1'000'000};
  std::vector<DtlAnalysis> analyses(2);
  DtlPlaces places;
  for (uint32_t i = 0; i < 100; i++) {
    const DtlEntry entry{.enqueue_to_dispatch = i < 60   ? 3U
                                                : i < 95 ? 5U
                                                         : 40U,
                         .ready_to_enqueue = 0,
                         .waiting_to_ready = 1'000'000,
                         .timebase = i + 1};
    analyses[i % 2].add({&entry, 1}, 0, 1'000'000, places);
  }
  const DtlWaitTables tables{.clock = kTicksOfAMicrosecond,
                             .cpus = {{4, &analyses[0]}, {17, &analyses[1]}}};
  const std::string by_cpu = tables.by_cpu();
  CHECK(by_cpu.starts_with(
      "\nenqueue to dispatch, us; tens of percent below each doubling from 4.000 to 64.000:\n"
      "  CPU  dispatches         p50         p99       p99.9         max\n"
      "    4          50       3.000      40.000      40.000      40.000  63  .\n"
      "   17          50       3.000      40.000      40.000      40.000  63  .\n"
      "  all         100       3.000      40.000      40.000      40.000  63  .\n"
      "\nready to enqueue, us; "));
  CHECK(by_cpu.find("  all         100 1000000.000 1000000.000 1000000.000 1000000.000  9\n") !=
        std::string::npos);
  const std::string histograms = tables.histograms();
  CHECK(histograms.find("\n  <        4.000         60  60.00 % #####") != std::string::npos);
  const std::string json = tables.for_programs(DtlFormat::kJson);
  CHECK(json.find(R"({"cpu":17,"wait":"enqueue_to_dispatch","dispatches":50,)"
                  R"("sum_ns":295000,"p50_ns":3000,"p99_ns":40000,"p999_ns":40000,)"
                  R"("max_ns":40000,"ticks_per_second":1000000,"histogram":[)"
                  R"({"ticks_below":4,"count":30},{"ticks_below":8,"count":17},)"
                  R"({"ticks_below":64,"count":3}]})") != std::string::npos);
  CHECK(std::ranges::count(tables.for_programs(DtlFormat::kCsv), '\n') == 10);
  // On a terminal of 100 columns.
  for (const std::string& text : {by_cpu, histograms}) {
    for (size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
      CHECK(end - begin <= 100);
    }
  }
}

TEST_CASE("a summary of an empty log states that it is empty") {
  DtlSummary summary;
  const DtlPlaces places;
  summary.places = &places;
  CHECK(summary.to_text() == "0 dispatches of 0 virtual processors\n");
}

}  // namespace htmtrace
