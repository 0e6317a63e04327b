// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the waiting task: context switches joined with entries of the dispatch trace log.
#include "core/dispatch_log/tasks.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "core/dispatch_log/blocks.h"
#include "core/dispatch_log/task_names.h"
#include "core/dispatch_log/task_waits.h"
#include "output/print/dtl_tasks_text.h"
#include "output/recording/dispatches.h"
#include "tests/unit/rounds.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {
namespace {

constexpr DtlTask kA{.pid = 10, .tid = 11}, kB{.pid = 20, .tid = 20}, kNobody{};

}  // namespace

TEST_CASE("a task stays until the next switch, whether or not its virtual processor runs") {
  DtlTaskTrack track;
  track.switched(100, kB, kA);
  track.switched(200, kA, kIdleTask);
  track.switched(300, kIdleTask, kB);
  track.cover(400);
  CHECK(track.at(50) == kB);
  CHECK(track.at(100) == kA);
  CHECK(track.at(199) == kA);  // preempted at any earlier time
  CHECK(track.at(250) == kIdleTask);
  CHECK(track.at(400) == kB);
  CHECK(track.at(401) == kNobody);
  CHECK(track.at(150) == kA);  // an out-of-order entry
}

TEST_CASE("an observed task has run since the start if no switch occurred") {
  DtlTaskTrack track;
  track.cover(100);
  CHECK(track.at(50) == kNobody);
  track.observed(kA);
  CHECK(track.at(50) == kA);
  track.observed(kB);  // of a later time, when switches had occurred
  CHECK(track.at(50) == kA);
}

TEST_CASE("in a gap no task is known, even if a task was observed in it") {
  DtlTaskTrack track;
  track.switched(100, kB, kA);
  track.lost();
  track.cover(200);
  track.observed(kB);
  CHECK(track.at(100) == kA);
  CHECK(track.at(150) == kNobody);
  track.switched(300, kB, kA);
  CHECK(track.at(299) == kNobody);
  CHECK(track.at(300) == kA);

  DtlTaskTrack lost_at_first;
  lost_at_first.lost();
  lost_at_first.switched(300, kB, kA);
  CHECK(lost_at_first.at(100) == kNobody);
}

TEST_CASE("switches no longer needed are dropped, and parts for a file continue each other") {
  DtlTaskTrack track;
  for (uint64_t i = 1; i <= 1000; i++) track.switched(i * 10, i % 2 ? kB : kA, i % 2 ? kA : kB);
  const auto first = track.take_new();
  REQUIRE(first);
  CHECK(first->switches.front() == DtlSwitch{0, kB});
  CHECK(first->until_ns == 10'000);
  track.forget(5'005);
  CHECK(track.at(5'005) == kB);
  CHECK(track.at(4'999) == kNobody);
  CHECK(!track.take_new());
  track.cover(20'000);
  const auto second = track.take_new();
  REQUIRE(second);
  CHECK(second->switches == std::vector{DtlSwitch{10'000, kB}});

  DtlTaskTrack read;
  read.append(*second);  // the first part was damaged
  CHECK(read.at(9'999) == kNobody);
  CHECK(read.at(10'000) == kB);
  CHECK(read.at(20'000) == kB);
  DtlTaskTrack whole;
  whole.append(*first);
  whole.append(*second);
  for (uint64_t ns = 0; ns <= 10'000; ns += 5) CHECK(whole.at(ns) == (ns / 10 % 2 ? kA : kB));
}

TEST_CASE("without a reader only the newest switches are kept, and older tasks are unknown") {
  DtlTaskTrack track;
  constexpr uint64_t kMany = 400'000;
  for (uint64_t i = 1; i <= kMany; i++) track.switched(i * 10, i % 2 ? kB : kA, i % 2 ? kA : kB);
  CHECK(track.at(100) == kNobody);
  CHECK(track.at(kMany * 10) == kB);
  CHECK(track.fresh() < kMany / 2);
}

TEST_CASE("blocks of switches survive packing, and other blocks are rejected") {
  DtlSwitches part{.switches = {}, .until_ns = 1'000'000};
  for (uint32_t i = 0; i < 10'000; i++)
    part.switches.push_back({uint64_t{i} * 100, {.pid = i % 7, .tid = i}});
  std::vector<std::byte> bytes;
  add_dtl_switches(9, part, bytes);
  DtlTaskTrack track;
  size_t blocks = 0;
  for (std::span<const std::byte> left = bytes; !left.empty(); blocks++) {
    const auto header = parse_dtl_header(left);
    REQUIRE(header);
    DtlSwitches read;
    const auto payload = left.subspan(kDtlHeaderBytes, header->payload_bytes);
    REQUIRE(parse_dtl_switches(*header, payload, read));
    CHECK(!parse_dtl_switches(*header, payload.first(payload.size() - 1), read));
    DtlBlockHeader wrong = *header;
    wrong.last_timebase = wrong.first_timebase;
    CHECK(!parse_dtl_switches(wrong, payload, read));
    REQUIRE(parse_dtl_switches(*header, payload, read));
    track.append(read);
    left = left.subspan(kDtlHeaderBytes + header->payload_bytes);
  }
  CHECK(blocks == 3);
  CHECK(bytes.size() < part.switches.size() * 8);
  for (const DtlSwitch& each : part.switches) REQUIRE(track.at(each.ns) == each.task);
  CHECK(track.at(1'000'000) == part.switches.back().task);
}

TEST_CASE("in a damaged file a task is correct or unknown") {
  std::vector<std::byte> whole;
  const auto put = [&](const std::vector<std::byte>& block) {
    whole.insert(whole.end(), block.begin(), block.end());
  };
  put(make_dtl_text_block(DtlBlockKind::kStart, "event all\ntasks switches\n"));
  put(make_dtl_clock_block({.boot_timebase = 0, .ticks_per_second = 1'000'000'000}));
  const auto task_at = [](uint64_t ns) { return DtlTask{1, static_cast<uint32_t>(ns / 50 + 1)}; };
  for (uint64_t begin = 0; begin < 10'000; begin += 1000) {
    std::vector<DtlSwitch> switches;
    std::vector<DtlEntry> entries;
    for (uint64_t ns = begin; ns < begin + 1000; ns += 50) switches.push_back({ns, task_at(ns)});
    for (uint64_t ns = begin + 1; ns < begin + 1000; ns += 9) entries.push_back({.timebase = ns});
    put(make_dtl_text_block(DtlBlockKind::kNames, "1 1 one\nnothing\n1 2 two\n"));
    put(make_dtl_switches_block(3, switches, begin + 1000));
    put(make_dtl_entries_block(3, entries));
  }
  std::mt19937_64 random(4);
  const TemporaryFolder folder;
  const auto path = folder.path() / "log.dtl";
  for (unsigned round = 0; round < rounds(64); round++) {
    auto bytes = whole;
    for (uint64_t i = random() % 8; i != 0 && round != 0; i--) {
      bytes[100 + random() % (bytes.size() - 100)] ^= static_cast<std::byte>(1 << random() % 8);
    }
    if (round % 4 == 3)
      bytes.erase(bytes.begin() + 200,
                  bytes.begin() + 200 + static_cast<ptrdiff_t>(random() % 2000));
    if (round % 4 == 2) bytes.resize(200 + random() % (bytes.size() - 200));
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    DtlReader reader(InputFile::open(path));
    DtlReader::Wanted wanted;
    wanted.tasks = true;
    DtlTaskTrack track;
    DtlTaskNames names;
    uint64_t known = 0, entries = 0;
    while (const auto block = reader.next(wanted)) {
      if (block->switches != nullptr) track.append(*block->switches);
      if (!block->names.empty()) names.set_lines(block->names);
      for (const DtlEntry& entry : block->entries) {
        const DtlTask told = track.at(entry.timebase);
        if (told.known()) REQUIRE(told == task_at(entry.timebase));
        known += told.known();
        entries++;
      }
    }
    if (round != 0) continue;
    CHECK(entries == 1110);
    CHECK(known == entries);
    CHECK(names.of({1, 2}) == "two");
  }
  DtlReader without(InputFile::open(path));
  while (const auto block = without.next({})) CHECK(block->switches == nullptr);
}

TEST_CASE("the table shows how long each task waited, the longest wait first") {
  DtlTaskNames names;
  names.set(kA, "a, \"b\"");
  DtlTaskWaits waits, other;
  const std::vector<DtlEntry> entries = {
      {.preempt_reason = 2, .enqueue_to_dispatch = 500, .ready_to_enqueue = 12},
      {.preempt_reason = 4, .enqueue_to_dispatch = 512},
      {.preempt_reason = 200, .ready_to_enqueue = 5120},
      {.preempt_reason = 14, .enqueue_to_dispatch = 2048},
      {.enqueue_to_dispatch = UINT32_MAX, .ready_to_enqueue = 5}};
  waits.add(entries, std::vector<DtlTask>{kA, kA, kB, kIdleTask, kNobody});
  other.add(std::span(entries).first(1), std::vector<DtlTask>{kA});
  waits.add(other);
  DtlTaskTable table{.clock = {.boot_timebase = 7, .ticks_per_second = 512'000'000},
                     .waits = &waits,
                     .names = &names};
  CHECK(table.to_text(DtlFormat::kText) ==
        R"(
waited from ready to dispatch, by task, us:
       pid       tid  dispatches          waited     share         p50         p99         max  comm              waited after
        20        20           1          10.000    0.00 %      10.000      10.000      10.000  :20               other 100.00 %
        10        11           3           3.000    0.00 %       1.000       1.000       1.000  a, "b"            H_CEDE 66.67 %, time_slice 33.33 %
         0         0           1           4.000    0.00 %       4.000       4.000       4.000  idle              reason_14 100.00 %
         -         -           1     8388608.007  100.00 % 8388607.998 8388607.998 8388607.998  unknown           unused 100.00 %
)");
  CHECK(table.to_text(DtlFormat::kCsv) ==
        "pid,tid,comm,dispatches,waited_ns,p50_ns,p99_ns,max_ns,waited_ns_after\n"
        "20,20,,1,10000,10000,10000,10000,other:10000\n"
        "10,11,\"a, \"\"b\"\"\",3,3000,1000,1000,1000,H_CEDE:2000 time_slice:1000\n"
        "0,0,idle,1,4000,4000,4000,4000,reason_14:4000\n"
        ",,,1,8388608007,8388607998,8388607998,8388607998,unused:8388608007\n");
  table.top = 1;
  const std::string json = table.to_text(DtlFormat::kJson);
  CHECK(json.substr(0, json.find('\n')) ==
        R"({"pid":20,"tid":20,"comm":null,"dispatches":1,"waited_ns":10000,"p50_ns":10000,)"
        R"("p99_ns":10000,"max_ns":10000,"waited_ns_after":{"other":10000}})");
  CHECK(json.find(R"({"pid":null,"tid":null,"comm":null,)") != std::string::npos);
  CHECK(table.to_text(DtlFormat::kText).find("by task, the 1 that waited longest, us:") !=
        std::string::npos);
}

}  // namespace htmtrace
