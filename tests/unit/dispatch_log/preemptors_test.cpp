// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/dispatch_log/preemptors.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/base/error.h"
#include "core/dispatch_log/processor_runs.h"

namespace htmtrace {
namespace {

constexpr size_t kMine = 0, kOther = 1, kThird = 2;
constexpr uint16_t kProcessor = 40;

// Returns a dispatch on `processor` after these waits, in ticks.
DtlEntry dispatched(uint64_t timebase, uint32_t queued = 0, uint32_t ready = 0,
                    uint32_t blocked = 0, uint16_t processor = kProcessor) {
  return {.processor_id = processor,
          .enqueue_to_dispatch = queued,
          .ready_to_enqueue = ready,
          .waiting_to_ready = blocked,
          .timebase = timebase};
}

constexpr uint64_t kWindow = 250;

// An hour has 1000 ticks. The hour of early dispatches is unknown.
std::optional<unsigned> hour_of(const DtlEntry& entry) {
  if (entry.timebase < 1000) return std::nullopt;
  return static_cast<unsigned>(entry.timebase / 1000 % DtlUnknownTime::kHours);
}

using CpuEntries = std::map<int, std::vector<DtlEntry>>;  // by CPU

struct Merge {
  explicit Merge(const std::vector<CpuEntries>& recordings, size_t top = 10,
                 DtlWindow window = {}) {
    ProcessorRuns runs(window, budget);
    for (size_t partition = 0; partition < recordings.size(); partition++) {
      for (const auto& [cpu, entries] : recordings[partition]) {
        // In two parts, as in the blocks of a file.
        const size_t half = entries.size() / 2;
        runs.add({partition, cpu}, std::span(entries).first(half));
        runs.add({partition, cpu}, std::span(entries).subspan(half));
      }
    }
    runs.finish();
    DtlPreemptors of(runs, {.top = top, .window_ticks = kWindow}, {});
    for (const auto& [cpu, entries] : recordings[kMine]) {
      for (const DtlEntry& entry : entries) of.add(cpu, entry, hour_of(entry));
    }
    all = of.all();
    unknown = of.unknown();
    time = of.unknown_time();
    partitions = of.partitions();
    for (size_t partition = 0; partition < recordings.size(); partition++) {
      owners.push_back(of.owners_of(partition));
    }
    longest = of.longest();
  }

  MemoryBudget budget;
  DtlPreemptors::Part all, unknown;
  DtlUnknownTime time;
  std::map<size_t, DtlPreemptors::Part> partitions;
  std::vector<std::vector<DtlPreemptors::OwnerPart>> owners;
  std::vector<DtlPreemptors::Wait> longest;
};

void check_part(const DtlPreemptors::Part& part, uint64_t waits, uint64_t ticks, uint64_t longest) {
  CHECK(part.waits == waits);
  CHECK(part.ticks == ticks);
  CHECK(part.longest == longest);
}

}  // namespace

TEST_CASE("preemptors: two partitions alternate on a processor") {
  // CPU 3 of this partition runs 0-100, 250-300 and 400-500; CPU 5 of the other runs between.
  const Merge merge({{{3, {dispatched(1000), dispatched(1250, 100, 50), dispatched(1400, 100)}}},
                     {{5, {dispatched(1100), dispatched(1300, 50), dispatched(1500, 100)}}}});
  check_part(merge.all, 2, 250, 150);
  check_part(merge.partitions.at(kOther), 2, 250, 150);
  check_part(merge.unknown, 0, 0, 0);
  CHECK(!merge.partitions.contains(kMine));
  REQUIRE(merge.longest.size() == 2);
  CHECK(merge.longest[0].dispatched == 1250);
  CHECK(merge.longest[0].ticks == 150);
  CHECK(merge.longest[0].cpu == 3);
  CHECK(merge.longest[0].processor == kProcessor);
  CHECK(merge.longest[0].owner == DtlOwner{kOther, 5});
  CHECK(merge.longest[0].owner_ticks == 150);
  CHECK(merge.longest[1].ticks == 100);
}

TEST_CASE("preemptors: the time after the other partition stopped is unknown") {
  // The other virtual processor stopped at 1130: its next dispatch waited 470 ticks.
  const Merge merge({{{0, {dispatched(1000), dispatched(1200, 100)}}},
                     {{0, {dispatched(1100), dispatched(1600, 20, 50, 400)}}}});
  check_part(merge.partitions.at(kOther), 1, 30, 30);
  check_part(merge.unknown, 1, 70, 70);
}

TEST_CASE("preemptors: the time before the first known dispatch is unknown") {
  const Merge merge({{{0, {dispatched(1000, 300)}}}, {{7, {dispatched(900), dispatched(2000)}}}});
  check_part(merge.partitions.at(kOther), 1, 100, 100);
  check_part(merge.unknown, 1, 200, 200);
  const Merge alone({{{0, {dispatched(1000, 300)}}}});
  check_part(alone.unknown, 1, 300, 300);
  REQUIRE(alone.longest.size() == 1);
  CHECK(!alone.longest[0].owner);
}

TEST_CASE("preemptors: the time after the end of a recording is unknown") {
  // The other recording ends at 1150 with a dispatch elsewhere.
  const Merge merge({{{0, {dispatched(1000), dispatched(1300, 200)}}},
                     {{0, {dispatched(1050)}}, {1, {dispatched(1150, 0, 0, 0, 41)}}}});
  check_part(merge.partitions.at(kOther), 1, 50, 50);
  check_part(merge.unknown, 1, 150, 150);
}

TEST_CASE("preemptors: the log divides the unknown time by queue, home, reason and hour") {
  // The other partition runs on processor 40 until 1200.
  std::vector<DtlEntry> mine = {
      dispatched(900, 50),                // unknown: 50, in an unknown hour
      dispatched(1300, 50, 150),          // 1100-1200 is known; unknown: 50 not queued, 50 queued
      dispatched(2000, 100, 200, 0, 41),  // unknown: all, on another processor, a long wait
      dispatched(2100, 0, 0, 90, 41),     // no wait
      dispatched(26000, 0, 10, 0),        // at 2 o'clock on the next day
      dispatched(26100, 5, 0, 0)};
  for (DtlEntry& entry : mine) entry.preempt_reason = kPreemptTimeSlice;
  mine[0].preempt_reason = 200;
  const Merge merge({{{3, mine}}, {{5, {dispatched(950), dispatched(1800, 0, 0, 600)}}}});
  const DtlUnknownTime& time = merge.time;
  CHECK(time.all() == merge.unknown.ticks);
  CHECK(time.not_queued() == 50 + 200 + 10);
  CHECK(time.queued() == 50 + 50 + 100 + 5);
  CHECK(time.late() == 300);
  CHECK(time.for_home() == 50 + 100 + 10 + 5);
  CHECK(time.by_preempt_reason()[200] == 50);
  CHECK(time.by_preempt_reason()[kPreemptTimeSlice] == 100 + 300 + 15);
  CHECK(time.by_hour()[1] == 100);
  CHECK(time.by_hour()[2] == 300 + 15);
  uint64_t with_hour = 0;
  for (const uint64_t ticks : time.by_hour()) with_hour += ticks;
  CHECK(with_hour == time.all() - 50);
}

TEST_CASE("preemptors: a home with as many dispatches as another processor has the lower number") {
  const Merge merge({{{0, {dispatched(1000, 7, 0, 0, 41), dispatched(2000, 20, 0, 0, 40)}},
                      {1, {dispatched(1000, 300, 0, 0, 42)}}}});
  CHECK(merge.time.for_home() == 20 + 300);
}

TEST_CASE("preemptors: a run before a gap ends with the last dispatch before the gap") {
  MemoryBudget budget;
  ProcessorRuns runs({}, budget);
  const std::vector<DtlEntry> before = {dispatched(1000), dispatched(1400, 0, 0, 0, 41)};
  const std::vector<DtlEntry> after = {dispatched(9000, 0, 0, 0, 41)};
  runs.add({kOther, 0}, std::span(before).first(1));
  runs.add({kOther, 1}, std::span(before).subspan(1));
  runs.end_partition(kOther);
  runs.add({kOther, 0}, after);
  runs.finish();
  uint64_t ran = 0;
  runs.visit(kProcessor, {0, 10000}, [&](uint16_t, uint64_t ticks) { ran += ticks; });
  CHECK(ran == 400);  // until the last dispatch before the gap
}

TEST_CASE("preemptors: a run longer than 2^32 ticks") {
  constexpr uint64_t kLong = uint64_t{1} << 33;
  const Merge merge({{{0, {dispatched(1000), dispatched(1000 + kLong, 100)}}},
                     {{0, {dispatched(500), dispatched(500 + kLong, 0, 0, 100)}}}});
  // The run of the other partition ends at 400 + kLong, before the wait begins.
  check_part(merge.unknown, 1, 100, 100);
  CHECK(!merge.partitions.contains(kOther));
}

TEST_CASE("preemptors: another virtual processor of this partition") {
  const Merge merge({{{0, {dispatched(1000), dispatched(1500, 300)}},
                      {1, {dispatched(1200), dispatched(1900, 0, 0, 500)}}}});
  check_part(merge.partitions.at(kMine), 1, 200, 200);
  check_part(merge.unknown, 1, 100, 100);
  REQUIRE(merge.owners[kMine].size() == 1);
  CHECK(merge.owners[kMine][0].first == DtlOwner{kMine, 1});
}

TEST_CASE("preemptors: only the processor of the dispatch counts") {
  const Merge merge({{{0, {dispatched(1000), dispatched(1500, 100)}}},
                     {{0, {dispatched(1400, 0, 0, 0, 41), dispatched(1600, 0, 0, 0, 41)}}}});
  check_part(merge.unknown, 1, 100, 100);
  CHECK(merge.partitions.empty());
}

TEST_CASE("preemptors: several owners of one wait") {
  const Merge merge({{{0, {dispatched(1000), dispatched(1100, 60), dispatched(2000, 10)}}},
                     {{0, {dispatched(1040), dispatched(1070, 10), dispatched(1995)}},
                      {1, {dispatched(1060), dispatched(1068, 3), dispatched(2001, 930)}}},
                     {{2, {dispatched(1080), dispatched(3000, 1900)}}}});
  // CPU 0 has 1040-1060 and 1070-1080, CPU 1 has 1060-1065 and 1068-1070.
  check_part(merge.partitions.at(kOther), 2, 42, 37);
  check_part(merge.partitions.at(kThird), 1, 20, 20);
  check_part(merge.unknown, 2, 8, 5);
  check_part(merge.all, 2, 70, 60);
  REQUIRE(merge.owners[kOther].size() == 2);
  CHECK(merge.owners[kOther][0].first == DtlOwner{kOther, 0});
  check_part(merge.owners[kOther][0].second, 2, 35, 30);
  check_part(merge.owners[kOther][1].second, 1, 7, 7);
}

TEST_CASE("preemptors: dispatches at the same time") {
  // The processor belongs to the owner with the higher number. No tick counts twice.
  const Merge merge({{{0, {dispatched(1000), dispatched(1100, 50)}}},
                     {{0, {dispatched(1050), dispatched(2000)}}},
                     {{0, {dispatched(1050), dispatched(2000)}}}});
  check_part(merge.partitions.at(kThird), 1, 50, 50);
  CHECK(!merge.partitions.contains(kOther));
  check_part(merge.unknown, 0, 0, 0);
}

TEST_CASE("preemptors: a run longer than 32 bits of ticks") {
  constexpr uint64_t kLong = 3ull << 32;
  const Merge merge({{{0, {dispatched(1000), dispatched(kLong, 100)}}},
                     {{0, {dispatched(2000), dispatched(kLong + 50)}}}});
  check_part(merge.partitions.at(kOther), 1, 100, 100);
}

TEST_CASE("preemptors: a wait cannot begin before the preceding dispatch") {
  const Merge merge({{{0, {dispatched(1000), dispatched(1100, 4'000'000'000)}}}});
  check_part(merge.all, 1, 100, 100);
}

TEST_CASE("preemptors: --top limits the longest waits") {
  const Merge merge(
      {{{0, {dispatched(1000), dispatched(1100, 5), dispatched(1200, 9), dispatched(1300, 7)}}}},
      2);
  REQUIRE(merge.longest.size() == 2);
  CHECK(merge.longest[0].ticks == 9);
  CHECK(merge.longest[1].ticks == 7);
}

TEST_CASE("preemptors: runs outside the window are not stored") {
  const Merge merge({{{0, {dispatched(1000), dispatched(1100, 50)}}},
                     {{0, {dispatched(1040), dispatched(1060), dispatched(5000)}}}},
                    10, {1090, 1200});
  // Only the run from 1060 on extends into the window.
  check_part(merge.partitions.at(kOther), 1, 40, 40);
}

TEST_CASE("preemptors: the memory has a limit") {
  MemoryBudget budget;
  budget.take(MemoryBudget::kBaseBytes - 200);
  ProcessorRuns runs({}, budget);
  const std::vector<DtlEntry> entries(100, dispatched(1000));
  CHECK_THROWS_AS(runs.add({kOther, 0}, entries), Error);
  CHECK(budget.exceeded());
}

}  // namespace htmtrace
