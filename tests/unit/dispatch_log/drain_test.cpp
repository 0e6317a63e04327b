// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the drain against mainline's driver, which is modeled step by step in plain memory. The
// driver places its own slots in the AUX area and ignores the remaining room.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <vector>

#include "ringbuf/dtl_drain.h"
#include "tests/generator/generated_trace.h"
#include "tests/unit/dispatch_log/vpa_driver.h"
#include "tests/unit/dtl_bytes.h"
#include "tests/unit/plain_ring.h"

namespace htmtrace {
namespace {

constexpr uint64_t kBoot = VpaDriver::kBoot;
constexpr uint64_t kTicks = VpaDriver::kTicks;

struct CollectedEntries {
  std::vector<uint64_t> numbers;  // of the entries, starting at 0
  std::vector<Loss> losses;
};

DtlDrain drain_of(PlainRing& ring, size_t aux_bytes, CollectedEntries& collected,
                  DtlDrain::Driver driver = DtlDrain::Driver::kKernels) {
  return {ring.data(),
          aux_bytes == 0 ? std::nullopt : std::optional(ring.aux()),
          aux_bytes,
          {.entries =
               [&](std::span<const std::byte> entries) {
                 for (size_t at = 0; at < entries.size(); at += kDtlEntryBytes) {
                   collected.numbers.push_back(dtl_timebase(entries.data() + at) - kBoot - 1);
                 }
               },
           .loss = [&](const Loss& loss) { collected.losses.push_back(loss); },
           .boot_timebase = [](uint64_t) { return kBoot; }},
          driver};
}

// IDENTIFIER|IP|TID|TIME|CPU|RAW
std::string raw_dtl_sample(const std::string& payload) {
  const auto size = static_cast<uint32_t>(payload.size());
  return native_words({1, 2, 3, 4, 5}) + std::string(reinterpret_cast<const char*>(&size), 4) +
         payload;
}

std::string raw_payload(uint32_t version, uint64_t count, const std::string& entries) {
  return std::string(reinterpret_cast<const char*>(&version), 4) + native_words({kTicks, count}) +
         entries;
}

void look(DtlDrain& drain) {
  std::vector<std::byte> room;
  drain.look(room);
}

}  // namespace

TEST_CASE("every entry arrives once and in order, together with the clock") {
  constexpr size_t kAux = 1 << 16;
  VpaDriver driver(kAux);
  CollectedEntries collected;
  DtlDrain drain = drain_of(driver.ring(), kAux, collected);
  for (const uint64_t count : {1, 84, 3, 0, 50, 84, 84, 2}) {
    driver.poll(count);
    look(drain);
  }
  REQUIRE(collected.numbers.size() == driver.written());
  for (uint64_t i = 0; i < driver.written(); i++) REQUIRE(collected.numbers[i] == i);
  CHECK(drain.clock().boot_timebase == kBoot);
  CHECK(drain.clock().ticks_per_second == kTicks);
  CHECK(drain.totals().saturated.count == 3);
  CHECK(drain.totals().saturated.first_ns == 85);
  CHECK(drain.totals().saturated.last_ns == 306);
  CHECK(drain.totals().last_ns == driver.written());
  CHECK(drain.totals().polls == 7);
  CHECK(drain.totals().most_at_once == 84);
  CHECK(drain.totals().passes.count == 0);
  CHECK(collected.losses.empty());
}

TEST_CASE("many rings are drained in turn, whatever their content") {
  constexpr size_t kAux = 1 << 14;
  constexpr size_t kRings = 9;
  std::vector<std::unique_ptr<VpaDriver>> drivers;
  std::vector<CollectedEntries> collected(kRings);
  std::vector<DtlDrain> drains;
  drains.reserve(kRings);
  for (size_t i = 0; i < kRings; i++) {
    drivers.push_back(std::make_unique<VpaDriver>(kAux));
    drains.push_back(drain_of(drivers[i]->ring(), kAux, collected[i]));
  }
  std::vector<DtlDrain*> all;
  all.reserve(kRings);
  for (DtlDrain& drain : drains) all.push_back(&drain);
  std::vector<std::byte> room;
  for (uint64_t round = 0; round < 30; round++) {
    // Some rings are empty, others hold more than one fetch, and areas wrap.
    for (size_t i = 0; i < kRings; i++) {
      for (size_t poll = 0; poll < i % 4; poll++) drivers[i]->poll((round * 7 + i * 13) % 84);
    }
    look_at_all(all, room);
  }
  for (size_t i = 0; i < kRings; i++) {
    CAPTURE(i);
    const auto& numbers = collected[i].numbers;
    CHECK(drivers[i]->ring().empty());
    CHECK(std::is_sorted(numbers.begin(), numbers.end()));
    CHECK(std::set(numbers.begin(), numbers.end()).size() == numbers.size());
    CHECK(numbers.size() + drains[i].totals().passes.count * 2 * 84 >= drivers[i]->written());
    CHECK(collected[i].losses.empty());
    CHECK(numbers.empty() == (i % 4 == 0));
  }
  look_at_all({}, room);
}

TEST_CASE("after more entries than the log holds between two polls, the newest 84 arrive") {
  constexpr size_t kAux = 1 << 16;
  VpaDriver driver(kAux);
  CollectedEntries collected;
  DtlDrain drain = drain_of(driver.ring(), kAux, collected);
  driver.poll(200);
  look(drain);
  REQUIRE(collected.numbers.size() == 84);
  CHECK(collected.numbers.front() == 116);
  CHECK(drain.totals().saturated.count == 1);
}

TEST_CASE(
    "when the area wraps repeatedly, no entry is duplicated or stale, and each wrap is counted") {
  for (const size_t aux_bytes : {16384, 65536}) {
    for (const uint64_t step : {2, 7, 31, 84}) {
      CAPTURE(aux_bytes);
      CAPTURE(step);
      VpaDriver driver(aux_bytes);
      CollectedEntries collected;
      DtlDrain drain = drain_of(driver.ring(), aux_bytes, collected);
      const uint64_t passes = 5;
      while (driver.ring().page().aux_head < passes * aux_bytes + 100) {
        driver.poll(step);
        look(drain);
      }
      CHECK(std::is_sorted(collected.numbers.begin(), collected.numbers.end()));
      CHECK(std::set(collected.numbers.begin(), collected.numbers.end()).size() ==
            collected.numbers.size());
      CHECK(drain.totals().passes.count == passes);
      CHECK(drain.totals().void_slots.count == 0);
      CHECK(collected.losses.empty());
      const uint64_t missing = driver.written() - collected.numbers.size();
      CHECK(missing <= passes * 2 * 84);
      CHECK(missing >= passes);
    }
  }
}

// If a poll finds one entry at the end of a pass of 64 KiB, the driver delivers the rest of the
// pass in two parts. The second part is shorter than a slot.
TEST_CASE("the padding at the end of a pass arrives in two parts, at any time") {
  constexpr size_t kAux = 1 << 16;
  for (uint64_t seed = 0; seed < 4; seed++) {
    CAPTURE(seed);
    generator::Random random(seed);
    VpaDriver driver(kAux);
    CollectedEntries collected;
    DtlDrain drain = drain_of(driver.ring(), kAux, collected);
    size_t parts = 0;
    while (driver.ring().page().aux_head < 30 * kAux) {
      const uint64_t before = driver.ring().page().aux_head % kAux;
      driver.poll(1 + random.below(2));
      const uint64_t after = driver.ring().page().aux_head % kAux;
      if (before + 64 == kAux && after + 16 == kAux) parts++;
      if (random.chance(600)) look(drain);
    }
    look(drain);
    CHECK(parts > 0);
    CHECK(std::is_sorted(collected.numbers.begin(), collected.numbers.end()));
    CHECK(collected.numbers.back() < driver.written());
    CHECK(drain.totals().passes.count == 30);
    CHECK(drain.totals().void_slots.count == 0);
    CHECK(drain.totals().disordered.count == 0);
    CHECK(collected.losses.empty());
  }
}

TEST_CASE("a log that was taken away appears as void slots") {
  PlainRing ring(1 << 12, 1 << 14);
  CollectedEntries collected;
  DtlDrain drain = drain_of(ring, 1 << 14, collected);
  ring.put_aux(native_words({kBoot, kTicks, 0, 0, 0, 0}));
  ring.put_aux(dtl_entry({.timebase = kBoot + 1}) + dtl_entry({}) +
               dtl_entry({.timebase = kBoot + 2}));
  look(drain);
  CHECK(collected.numbers == std::vector<uint64_t>{0, 1});
  CHECK(drain.totals().void_slots.count == 1);
}

TEST_CASE("htmtrace's own driver: slots without padding, also across the area's end") {
  for (const uint64_t at_once : {1, 7, 80}) {
    CAPTURE(at_once);
    PlainRing ring(1 << 16, 4096);
    CollectedEntries collected;
    DtlDrain drain = drain_of(ring, 4096, collected, DtlDrain::Driver::kOwn);
    ring.put_aux(native_words({kBoot, kTicks, 0, 0, 0, 0}));
    uint64_t written = 0;
    while (written < 1000) {
      for (uint64_t i = 0; i < at_once; i++) {
        ring.put_aux(dtl_entry({.timebase = kBoot + 1 + written++}));
      }
      look(drain);
    }
    REQUIRE(collected.numbers.size() == written);
    for (uint64_t i = 0; i < written; i++) REQUIRE(collected.numbers[i] == i);
    CHECK(collected.losses.empty());
    CHECK(drain.clock().boot_timebase == kBoot);
    CHECK(drain.totals().passes.count == 0);
    CHECK(drain.totals().overruns.count == 0);
    CHECK(drain.totals().disordered.count == 0);
  }
}

TEST_CASE("the kernel's driver without padding: its deliveries show this when the area wraps") {
  constexpr uint64_t kArea = 16384;
  for (const uint64_t at_once : {1, 7, 80}) {
    // Of every third delivery, the data ring has no room for the record.
    for (const bool records_are_lost : {false, true}) {
      CAPTURE(at_once);
      CAPTURE(records_are_lost);
      PlainRing ring(1 << 16, kArea);
      CollectedEntries collected;
      DtlDrain drain = drain_of(ring, kArea, collected);
      ring.put_aux(native_words({kBoot, kTicks, 0, 0, 0, 0}));
      uint64_t written = 0, offset = 0;
      for (uint64_t delivery = 0; written < 3000; delivery++) {
        for (uint64_t i = 0; i < at_once; i++) {
          ring.put_aux(dtl_entry({.timebase = kBoot + 1 + written++}));
        }
        const uint64_t end = (written + 1) * kDtlEntryBytes;
        const bool crosses = offset / kArea != (end - 1) / kArea;
        if (!records_are_lost || (delivery % 3 != 0 && !crosses)) {
          CHECK(ring.put_record(PERF_RECORD_AUX,
                                native_words({offset, end - offset, 0, 0, written, 0, 0})));
        }
        offset = end;
        look(drain);
      }
      // Without the record of the crossing delivery, the next record shows it.
      const uint64_t missing = written - collected.numbers.size();
      CHECK(missing <= (records_are_lost ? 2 * at_once + 2 : 0));
      CHECK(std::is_sorted(collected.numbers.begin(), collected.numbers.end()));
      CHECK(drain.totals().passes.count <= (records_are_lost ? 1 : 0));
      CHECK(drain.totals().overruns.count == 0);
      CHECK(collected.numbers.back() == written - 1);
      if (!records_are_lost) CHECK(collected.losses.empty());
    }
  }
}

TEST_CASE("the kernel's driver without padding: a stalled reader gets all that is in the area") {
  constexpr uint64_t kArea = 16384;
  constexpr uint64_t kInArea = kArea / kDtlEntryBytes;
  PlainRing ring(1 << 16, kArea);
  CollectedEntries collected;
  DtlDrain drain = drain_of(ring, kArea, collected);
  ring.put_aux(native_words({kBoot, kTicks, 0, 0, 0, 0}));
  uint64_t written = 0;
  const auto deliver = [&](uint64_t entries) {
    const uint64_t offset = written == 0 ? 0 : (written + 1) * kDtlEntryBytes;
    for (uint64_t i = 0; i < entries; i++) {
      ring.put_aux(dtl_entry({.timebase = kBoot + 1 + written++}));
    }
    CHECK(ring.put_record(
        PERF_RECORD_AUX,
        native_words({offset, (written + 1) * kDtlEntryBytes - offset, 0, 0, written, 0, 0})));
  };
  for (uint64_t i = 0; i < 2 * kInArea; i += 80) {
    deliver(80);
    look(drain);
  }
  deliver(kInArea - 1);
  look(drain);
  CHECK(collected.numbers.size() == written);
  CHECK(drain.totals().overruns.count == 0);
  CHECK(collected.losses.empty());
}

TEST_CASE("htmtrace's own driver announces missing entries") {
  PlainRing ring(1 << 16, 4096);
  CollectedEntries collected;
  DtlDrain drain = drain_of(ring, 4096, collected, DtlDrain::Driver::kOwn);
  const auto announce = [&](uint64_t kind, uint64_t value) {
    CHECK(ring.put_record(PERF_RECORD_AUX_OUTPUT_HW_ID,
                          native_words({kind << 56 | value, 0, 500, 0, 0})));
  };
  announce(1, 7);
  announce(2, 30);
  announce(3, 2);
  announce(9, 100);
  CHECK(ring.put_record(PERF_RECORD_AUX, native_words({0, uint64_t{84} * 48, 4, 0, 600, 0, 0})));
  look(drain);
  const DtlTotals& totals = drain.totals();
  CHECK(totals.announced_entries == 39);
  CHECK(totals.saturated.count == 1);
  CHECK(totals.saturated.first_ns == 500);
  CHECK(totals.area_full.count == 1);
  CHECK(totals.not_logged.count == 1);
  CHECK(totals.taken.count == 0);
  CHECK(totals.flagged.count == 1);
  CHECK(totals.flagged.first_ns == 600);
  CHECK(!drain.ended());
  announce(4, 1);
  look(drain);
  CHECK(totals.taken.count == 1);
  CHECK(totals.announced_entries == 39);
  CHECK(drain.ended());
}

TEST_CASE("a stalled reader receives correct entries in order and a count of the others") {
  for (const size_t aux_bytes : {16384, 65536}) {
    for (const uint64_t step : {7, 31, 84}) {
      for (const uint64_t before : {0, 1, 1000}) {
        CAPTURE(aux_bytes);
        CAPTURE(step);
        CAPTURE(before);
        VpaDriver driver(aux_bytes);
        CollectedEntries collected;
        DtlDrain drain = drain_of(driver.ring(), aux_bytes, collected);
        for (uint64_t i = 0; i < before; i += step) {
          driver.poll(step);
          look(drain);
        }
        while (!driver.off()) driver.poll(step);
        look(drain);
        CHECK(std::is_sorted(collected.numbers.begin(), collected.numbers.end()));
        CHECK(std::set(collected.numbers.begin(), collected.numbers.end()).size() ==
              collected.numbers.size());
        CHECK(collected.losses.empty());
        CHECK(drain.totals().overruns.count == 1);
        CHECK(drain.totals().void_slots.count == 0);
        // All entries except the known cases: the overrun, two deliveries for each pass, and the
        // rejected delivery.
        const uint64_t missing = driver.written() - collected.numbers.size();
        const uint64_t named =
            drain.totals().overrun_entries + 2 * step * drain.totals().passes.count + step;
        CHECK(missing <= named);
        CHECK(drain.totals().overrun_entries <= 3 * 85);
      }
    }
  }
}

TEST_CASE("an entry that was overwritten while the driver copied it is detected") {
  PlainRing ring(1 << 12, 1 << 14);
  CollectedEntries collected;
  DtlDrain drain = drain_of(ring, 1 << 14, collected);
  ring.put_aux(native_words({kBoot, kTicks, 0, 0, 0, 0}) + dtl_entry({.timebase = kBoot + 9}) +
               dtl_entry({.timebase = kBoot + 2}) + dtl_entry({.timebase = kBoot + 3}));
  look(drain);
  CHECK(drain.totals().disordered.count == 1);
  CHECK(collected.numbers.size() == 3);
}

TEST_CASE("a void or out-of-order entry is detected at every position of a delivery") {
  constexpr size_t kAux = 1 << 14;
  for (uint64_t count = 1; count < 14; count++) {
    for (uint64_t bad = 0; bad < count; bad++) {
      // Void; as old as its predecessor; or of a time in the far future, so that the next entry is
      // older.
      for (const uint64_t timebase : {uint64_t{0}, kBoot + bad + 1, ~uint64_t{0}}) {
        CAPTURE(count);
        CAPTURE(bad);
        CAPTURE(timebase);
        PlainRing ring(1 << 12, kAux);
        CollectedEntries collected;
        DtlDrain drain = drain_of(ring, kAux, collected);
        ring.put_aux(native_words({kBoot, kTicks, 0, 0, 0, 0}) +
                     dtl_entry({.timebase = kBoot + 1}));
        look(drain);
        std::string entries;
        for (uint64_t i = 0; i < count; i++) {
          entries += dtl_entry({.timebase = i == bad ? timebase : kBoot + 2 + i});
        }
        ring.put_aux(entries);
        look(drain);
        CHECK(drain.totals().void_slots.count == (timebase == 0 ? 1 : 0));
        const bool older_follows = timebase == ~uint64_t{0} && bad + 1 < count;
        const bool older = timebase == kBoot + bad + 1 || older_follows;
        CHECK(drain.totals().disordered.count == (older ? 1 : 0));
        CHECK(collected.numbers.size() == 1 + count - (timebase == 0 ? 1 : 0));
      }
    }
  }
}

TEST_CASE("an event that the kernel ended is detected") {
  PlainRing ring(1 << 12, 1 << 14);
  CollectedEntries collected;
  DtlDrain drain = drain_of(ring, 1 << 14, collected);
  CHECK(ring.put_record(PERF_RECORD_AUX, native_words({0, 0, PERF_AUX_FLAG_TRUNCATED})));
  CHECK(ring.put_record(PERF_RECORD_AUX, native_words({0, 0, PERF_AUX_FLAG_TRUNCATED})));
  look(drain);
  CHECK(drain.ended());
}

TEST_CASE("the driver without AUX area: entries in raw samples") {
  PlainRing ring(1 << 12, 64);
  CollectedEntries collected;
  DtlDrain drain = drain_of(ring, 0, collected);
  const std::string entries =
      dtl_entry({.timebase = kBoot + 1}) + dtl_entry({.timebase = kBoot + 2});
  CHECK(ring.put_record(PERF_RECORD_SAMPLE, raw_dtl_sample(raw_payload(1, 2, entries))));
  look(drain);
  CHECK(collected.numbers == std::vector<uint64_t>{0, 1});
  CHECK(drain.clock().boot_timebase == kBoot);
  CHECK(drain.clock().ticks_per_second == kTicks);
  CHECK(collected.losses.empty());

  // A sample with a wrong length, a sample of an unknown form, a truncated sample, and a full ring.
  CHECK(ring.put_record(PERF_RECORD_SAMPLE, raw_dtl_sample(raw_payload(1, 3, entries))));
  CHECK(ring.put_record(PERF_RECORD_SAMPLE, raw_dtl_sample(raw_payload(1, UINT64_MAX, entries))));
  CHECK(ring.put_record(PERF_RECORD_SAMPLE, raw_dtl_sample(raw_payload(2, 2, entries))));
  CHECK(ring.put_record(PERF_RECORD_SAMPLE, raw_dtl_sample("1234")));
  CHECK(ring.put_record(PERF_RECORD_LOST, native_words({1, 6})));
  look(drain);
  CHECK(collected.numbers.size() == 2);
  CHECK(collected.losses.size() == 5);
}

}  // namespace htmtrace
