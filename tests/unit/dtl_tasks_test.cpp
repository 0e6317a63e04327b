// SPDX-License-Identifier: GPL-2.0-or-later
// Which task waited: context switches joined with entries of the dispatch trace log.
#include "core/dtl_tasks.h"

#include <doctest/doctest.h>
#include <linux/perf_event.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "core/dtl_blocks.h"
#include "core/dtl_task_names.h"
#include "core/dtl_task_waits.h"
#include "output/dtl_reader.h"
#include "output/dtl_tasks_text.h"
#include "pmu/switch_event.h"
#include "ringbuf/switch_drain.h"
#include "tests/unit/plain_ring.h"
#include "tests/unit/rounds.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace {
namespace {

constexpr DtlTask kA{.pid = 10, .tid = 11}, kB{.pid = 20, .tid = 20}, kNobody{};

std::string task_words(DtlTask task) {
  std::string text(reinterpret_cast<const char*>(&task.pid), sizeof(task.pid));
  return text.append(reinterpret_cast<const char*>(&task.tid), sizeof(task.tid));
}

// TID, TIME, CPU
std::string switch_trailer(DtlTask task, uint64_t ns) {
  return task_words(task) + native_words({ns, 3});
}

// The kernel's side of the ring: what finds no room is counted, and told before the next record.
class PlainKernel {
 public:
  explicit PlainKernel(size_t ring_bytes) : ring(ring_bytes, 0) {}

  void put(uint32_t type, const std::string& body, DtlTask task, uint64_t ns, uint16_t misc = 0) {
    const std::string trailer = switch_trailer(task, ns);
    if (lost_ != 0) {
      // Both or none, as in the kernel.
      const uint64_t head = ring.page().data_head;
      if (ring.put_record(PERF_RECORD_LOST, native_words({0, lost_}) + trailer) &&
          ring.put_record(type, body + trailer, misc)) {
        all_lost += lost_;
        lost_ = 0;
        return;
      }
      ring.page().data_head = head;
      lost_++;
    } else if (!ring.put_record(type, body + trailer, misc)) {
      lost_++;
    }
  }

  // Both records of a switch.
  void put_switch(DtlTask from, DtlTask to, uint64_t ns) {
    put(PERF_RECORD_SWITCH_CPU_WIDE, task_words(to), from, ns, PERF_RECORD_MISC_SWITCH_OUT);
    put(PERF_RECORD_SWITCH_CPU_WIDE, task_words(from), to, ns + 1);
  }

  PlainRing ring;
  uint64_t all_lost = 0;

 private:
  uint64_t lost_ = 0;
};

struct DrainedSwitches {
  explicit DrainedSwitches(PlainKernel& kernel, size_t ring_bytes)
      : drain(kernel.ring.data(), ring_bytes, track,
              {.named = [this](DtlTask task, std::string_view name) { names.set(task, name); },
               .forked = [this](DtlTask child, DtlTask parent) { names.inherit(child, parent); },
               .loss = [this](const Loss& loss) { losses.push_back(loss); }}) {}

  DtlTaskTrack track;
  DtlTaskNames names;
  std::vector<Loss> losses;
  SwitchDrain drain;
};

constexpr size_t kRing = 1 << 12;

// The clock of the kernel: sched_clock() and div128_by_32() of arch/powerpc/kernel/time.c.
struct KernelClock {
  __extension__ typedef unsigned __int128 Wide;

  explicit KernelClock(uint64_t ticks_per_second) {
    Wide ratio = (Wide{1'000'000'000} << 64) / ticks_per_second;
    for (; ratio >> 64 != 0; ratio >>= 1) shift++;
    scale = static_cast<uint64_t>(ratio);
  }
  uint64_t ns(uint64_t ticks) const {
    return static_cast<uint64_t>(Wide{ticks} * scale >> 64) << shift;
  }

  uint64_t scale = 0;
  unsigned shift = 0;
};

}  // namespace

TEST_CASE("a task stays until the next one comes, whether or not its virtual processor runs") {
  DtlTaskTrack track;
  track.switched(100, kB, kA);
  track.switched(200, kA, kIdleTask);
  track.switched(300, kIdleTask, kB);
  track.cover(400);
  CHECK(track.at(50) == kB);
  CHECK(track.at(100) == kA);
  CHECK(track.at(199) == kA);  // preempted at any time before
  CHECK(track.at(250) == kIdleTask);
  CHECK(track.at(400) == kB);
  CHECK(track.at(401) == kNobody);
  CHECK(track.at(150) == kA);  // an entry out of order
}

TEST_CASE("a task that was seen has been there since the beginning if nothing was switched") {
  DtlTaskTrack track;
  track.cover(100);
  CHECK(track.at(50) == kNobody);
  track.observed(kA);
  CHECK(track.at(50) == kA);
  track.observed(kB);  // of later, when there were switches
  CHECK(track.at(50) == kA);
}

TEST_CASE("in a gap no task is known, whoever was seen in it") {
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

TEST_CASE("what nobody asks for is forgotten, and parts for a file go on from each other") {
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

TEST_CASE("without a reader only the newest switches are kept, and the older are not guessed") {
  DtlTaskTrack track;
  constexpr uint64_t kMany = 400'000;
  for (uint64_t i = 1; i <= kMany; i++) track.switched(i * 10, i % 2 ? kB : kA, i % 2 ? kA : kB);
  CHECK(track.at(100) == kNobody);
  CHECK(track.at(kMany * 10) == kB);
  CHECK(track.fresh() < kMany / 2);
}

TEST_CASE("the kernel's records: switches, names and losses") {
  PlainKernel kernel(kRing);
  DrainedSwitches drained(kernel, kRing);
  kernel.put(PERF_RECORD_COMM, task_words(kA) + std::string("wor\nker\0", 8), kA, 5);
  kernel.put(PERF_RECORD_FORK, native_words({10, uint64_t{11} << 32 | 12, 7}), kA, 6);
  kernel.put(PERF_RECORD_FORK, "tooshort", kA, 6);
  kernel.put_switch(kA, kB, 100);
  drained.drain.look();
  CHECK(drained.track.at(99) == kA);
  CHECK(drained.track.at(100) == kB);
  CHECK(drained.names.of(kA) == "wor?ker");
  CHECK(drained.losses.empty());
  for (uint64_t i = 0; i < 200; i++) kernel.put_switch(kA, kB, 200 + i * 10);
  drained.drain.look();
  drained.track.cover(3000);
  // What was lost is not told yet, but the ring was full.
  CHECK(drained.track.at(200) == kB);
  CHECK(drained.track.at(3000) == kNobody);
  kernel.put_switch(kA, kB, 4000);
  drained.drain.look();
  REQUIRE(drained.losses.size() == 1);
  CHECK(drained.losses[0].amount == kernel.all_lost);
  CHECK(drained.track.at(3999) == kNobody);
  CHECK(drained.track.at(4001) == kB);
}

TEST_CASE("whatever is lost or read late, a task that is told was there") {
  std::mt19937_64 random(3);
  for (unsigned round = 0; round < rounds(80); round++) {
    PlainKernel kernel(kRing);
    DrainedSwitches drained(kernel, kRing);
    DtlTaskTrack read;
    std::vector<DtlSwitch> truth{{0, kA}};
    uint64_t now = 1, last_entry = 0, known = 0, asked = 0;
    // Few between two looks, or often too many.
    const uint64_t most = round % 2 == 0 ? 40 : 90;
    for (int look = 0; look < 40; look++) {
      for (uint64_t i = random() % most; i != 0; i--) {
        now += 2 + random() % 100;
        const DtlTask to{.pid = static_cast<uint32_t>(random() % 4),
                         .tid = truth.back().task.tid + 1};
        kernel.put_switch(truth.back().task, to, now);
        truth.push_back({now, to});
      }
      now += 2 + random() % 100;
      drained.drain.look();
      if (random() % 4 == 0) drained.track.observed(truth.back().task);
      drained.track.cover(now);
      if (random() % 3 == 0) {
        if (const auto part = drained.track.take_new()) {
          std::vector<std::byte> block;
          add_dtl_switches(7, *part, block);
          // One part of a few is damaged.
          if (random() % 8 != 0) {
            const auto header = parse_dtl_header(block);
            DtlSwitches again;
            REQUIRE(header);
            REQUIRE(parse_dtl_switches(*header, std::span(block).subspan(kDtlHeaderBytes), again));
            CHECK(again.switches == part->switches);
            read.append(again);
          }
        }
      }
      std::vector<uint64_t> entries(5);
      for (uint64_t& ns : entries) ns = last_entry + random() % (now - last_entry + 1);
      std::ranges::sort(entries);
      for (const uint64_t ns : entries) {
        const auto after = std::ranges::upper_bound(truth, ns, {}, &DtlSwitch::ns);
        const DtlTask there = (after - 1)->task;
        for (const DtlTask told : {drained.track.at(ns), read.at(ns)}) {
          if (told.known()) REQUIRE(told == there);
        }
        asked++;
        known += drained.track.at(ns).known();
        last_entry = ns;
      }
      drained.track.forget(last_entry);
    }
    if (kernel.all_lost == 0 && drained.losses.empty() && most == 40) CHECK(known >= asked - 5);
    CHECK(known >= asked / 5);
  }
}

TEST_CASE("the time of a switch is that of the timebase, to 4 ns") {
  std::mt19937_64 random(9);
  for (const uint64_t ticks_per_second : {512'000'000ULL, 511'999'871ULL, 1'000'000'000ULL}) {
    const KernelClock kernel(ticks_per_second);
    const DtlClock clock{.boot_timebase = 12345, .ticks_per_second = ticks_per_second};
    for (unsigned i = 0; i < rounds(4000); i++) {
      const uint64_t ticks = random() >> (random() % 40 + 8);  // up to years
      const uint64_t exact = *clock.nanoseconds(clock.boot_timebase + ticks);
      const uint64_t told = kernel.ns(ticks);
      REQUIRE(told <= exact);
      REQUIRE(exact - told <= 4);
    }
  }
}

TEST_CASE("blocks of switches come back, and nothing else is taken for one") {
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

TEST_CASE("in a damaged file a task is right or unknown") {
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

TEST_CASE("the table tells for each task how long it waited, the longest first") {
  DtlTaskNames names;
  names.set(kA, "a, \"b\"");
  DtlTaskWaits waits, other;
  const std::vector<DtlEntry> entries = {
      {.enqueue_to_dispatch = 500, .ready_to_enqueue = 12},
      {.enqueue_to_dispatch = 512},
      {.ready_to_enqueue = 5120},
      {.enqueue_to_dispatch = 2048},
      {.enqueue_to_dispatch = UINT32_MAX, .ready_to_enqueue = 5}};
  waits.add(entries, std::vector<DtlTask>{kA, kA, kB, kIdleTask, kNobody});
  other.add(std::span(entries).first(1), std::vector<DtlTask>{kA});
  waits.add(other);
  DtlTaskTable table{.clock = {.boot_timebase = 7, .ticks_per_second = 512'000'000},
                     .waits = &waits,
                     .names = &names};
  CHECK(table.to_text(DtlFormat::kText) ==
        R"(
waited from ready to dispatch, by the task that was there, us:
       pid       tid  dispatches          waited     share         p50         p99         max  comm
        20        20           1          10.000    0.00 %      10.000      10.000      10.000  :20
        10        11           3           3.000    0.00 %       1.000       1.000       1.000  a, "b"
         0         0           1           4.000    0.00 %       4.000       4.000       4.000  idle
         -         -           1     8388608.007  100.00 % 8388607.998 8388607.998 8388607.998  unknown
)");
  CHECK(table.to_text(DtlFormat::kCsv) ==
        "pid,tid,comm,dispatches,waited_ns,p50_ns,p99_ns,max_ns\n"
        "20,20,,1,10000,10000,10000,10000\n"
        "10,11,\"a, \"\"b\"\"\",3,3000,1000,1000,1000\n"
        "0,0,idle,1,4000,4000,4000,4000\n"
        ",,,1,8388608007,8388607998,8388607998,8388607998\n");
  table.top = 1;
  const std::string json = table.to_text(DtlFormat::kJson);
  CHECK(json.substr(0, json.find('\n')) ==
        R"({"pid":20,"tid":20,"comm":null,"dispatches":1,"waited_ns":10000,"p50_ns":10000,)"
        R"("p99_ns":10000,"max_ns":10000})");
  CHECK(json.find(R"({"pid":null,"tid":null,"comm":null,)") != std::string::npos);
  CHECK(table.to_text(DtlFormat::kText).find("there, the 1 that waited most, us:") !=
        std::string::npos);
}

TEST_CASE("the event of switches counts nothing and has the records") {
  const EventAttr attr = switch_event_attr(1 << 18);
  CHECK(attr.base().type == PERF_TYPE_SOFTWARE);
  CHECK(attr.base().config == PERF_COUNT_SW_DUMMY);
  CHECK(attr.base().context_switch == 1);
  CHECK(attr.base().comm == 1);
  CHECK(attr.base().task == 1);
  CHECK(attr.base().sample_id_all == 1);
  CHECK(attr.base().sample_type == (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU));
  CHECK(attr.base().use_clockid == 0);
  CHECK(attr.base().disabled == 1);
}

}  // namespace htmtrace
