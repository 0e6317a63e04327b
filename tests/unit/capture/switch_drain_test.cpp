// SPDX-License-Identifier: GPL-2.0-or-later
// Drains context switches as the kernel records them, and converts their time to the timebase.
#include "ringbuf/switch_drain.h"

#include <doctest/doctest.h>
#include <linux/perf_event.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "core/dispatch_log/blocks.h"
#include "core/dispatch_log/task_names.h"
#include "core/dispatch_log/tasks.h"
#include "pmu/switch_event.h"
#include "tests/unit/plain_ring.h"
#include "tests/unit/rounds.h"

namespace htmtrace {
namespace {

constexpr DtlTask kWorker{.pid = 10, .tid = 11}, kOther{.pid = 20, .tid = 20}, kUnknownTask{};

std::string task_words(DtlTask task) {
  std::string text(reinterpret_cast<const char*>(&task.pid), sizeof(task.pid));
  return text.append(reinterpret_cast<const char*>(&task.tid), sizeof(task.tid));
}

// TID, TIME, CPU
std::string switch_trailer(DtlTask task, uint64_t ns) {
  return task_words(task) + native_words({ns, 3});
}

// The kernel's side of the ring. Records without room are counted, and reported ahead of the next
// record.
class PlainKernel {
 public:
  explicit PlainKernel(size_t ring_bytes) : ring(ring_bytes, 0) {}

  void put(uint32_t type, const std::string& body, DtlTask task, uint64_t ns, uint16_t misc = 0) {
    const std::string trailer = switch_trailer(task, ns);
    if (lost_ != 0) {
      // Both records or none, as in the kernel.
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

  // Writes both records of a switch.
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

TEST_CASE("the kernel's records: switches, names and losses") {
  PlainKernel kernel(kRing);
  DrainedSwitches drained(kernel, kRing);
  kernel.put(PERF_RECORD_COMM, task_words(kWorker) + std::string("wor\nker\0", 8), kWorker, 5);
  kernel.put(PERF_RECORD_FORK, native_words({10, uint64_t{11} << 32 | 12, 7}), kWorker, 6);
  kernel.put(PERF_RECORD_FORK, "tooshort", kWorker, 6);
  kernel.put_switch(kWorker, kOther, 100);
  drained.drain.look();
  CHECK(drained.track.at(99) == kWorker);
  CHECK(drained.track.at(100) == kOther);
  CHECK(drained.names.of(kWorker) == "wor?ker");
  CHECK(drained.losses.empty());
  for (uint64_t i = 0; i < 200; i++) kernel.put_switch(kWorker, kOther, 200 + i * 10);
  drained.drain.look();
  drained.track.cover(3000);
  // The loss is not reported yet, but the ring was full.
  CHECK(drained.track.at(200) == kOther);
  CHECK(drained.track.at(3000) == kUnknownTask);
  kernel.put_switch(kWorker, kOther, 4000);
  drained.drain.look();
  REQUIRE(drained.losses.size() == 1);
  CHECK(drained.losses[0].amount == kernel.all_lost);
  CHECK(drained.track.at(3999) == kUnknownTask);
  CHECK(drained.track.at(4001) == kOther);
}

TEST_CASE("after any loss or delay, a reported task was running") {
  std::mt19937_64 random(3);
  for (unsigned round = 0; round < rounds(80); round++) {
    PlainKernel kernel(kRing);
    DrainedSwitches drained(kernel, kRing);
    DtlTaskTrack read;
    std::vector<DtlSwitch> truth{{0, kWorker}};
    uint64_t now = 1, last_entry = 0, known = 0, asked = 0;
    // A few switches between two polls, or often too many.
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
          // In a few rounds, a record is damaged.
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

TEST_CASE("the time of a switch matches the timebase to 4 ns") {
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

TEST_CASE("the switch event counts nothing and delivers the records") {
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
