// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the drain against drivers that live in plain memory. Each read() puts one piece into the
// rings, as kmod/ABI and the public drivers do.
#include "ringbuf/htm_drain.h"

#include <doctest/doctest.h>

#include "core/core_trace/stamp.h"
#include "tests/unit/capture/plain_driver.h"

namespace htmtrace {
namespace {

constexpr uint64_t kTraceBegin = uint64_t{1} << 56;
constexpr uint64_t kTraceEnd = uint64_t{2} << 56;
constexpr uint64_t kMapBegin = uint64_t{3} << 56;
constexpr uint64_t kMapEnd = uint64_t{4} << 56;
constexpr uint64_t kError = uint64_t{5} << 56;
constexpr uint64_t kStarted = uint64_t{6} << 56;
constexpr uint64_t kGap = uint64_t{7} << 56;

// TIME stamps (htm-core-trace(5), STAMPS).
const std::string kTraceFull("\xac\xef\xf8\x20\0\0\0\0", 8);
const std::string kTimestamp("\xac\xef\xf8\0\0\0\0\0", 8);

using Driver = PlainDriver;

// Steps until the end. Returns how often the drain had to wait.
int run(HtmDrain& drain, int most_steps = 1000) {
  int waits = 0;
  for (int step = 0; step < most_steps; step++) {
    const auto result = drain.step();
    if (result == HtmDrain::Step::kDone) {
      drain.finish();
      return waits;
    }
    if (result == HtmDrain::Step::kAgain) waits++;
  }
  FAIL("the drain does not end");
  return waits;
}

}  // namespace

TEST_CASE("trace and map of our driver arrive complete, and completeness is proven") {
  Driver driver;
  const std::string first(64, 'a'), second(60, 'b');
  const std::string block = map_block(0, 3);
  driver.plan = {
      driver.say(kTraceBegin | 4096),    driver.give_trace(first), driver.give_trace(second),
      driver.say(kTraceEnd | 124),       driver.say(kMapBegin),    driver.give_sample(block),
      driver.say(kMapEnd | block.size())};
  HtmDrain drain = driver.make_drain();
  CHECK(run(drain) == 4);  // announcements alone are no progress
  CHECK(driver.trace == first + second);
  CHECK(driver.map == block);
  CHECK(driver.losses.empty());
  CHECK_FALSE(driver.read_with_full_rings);
  CHECK(drain.trace_proof() == Proof::kProven);
  CHECK(drain.map_proof() == Proof::kProven);
  CHECK(drain.expected_trace_bytes() == 4096);
  CHECK(drain.totals().trace_bytes == 124);
  CHECK(drain.totals().announced_bytes == 124);
  CHECK(drain.totals().map_blocks == 1);
  CHECK(drain.totals().map_entries == 3);
}

TEST_CASE("a public driver ends with silence, and completeness cannot be proven") {
  Driver driver;
  driver.plan = {driver.give_trace("0123456789"), driver.give_sample(map_block(2, 1)),
                 driver.give_sample(map_block(~uint64_t{0}, 2))};
  HtmDrain drain = driver.make_drain();
  CHECK(run(drain) == 0);
  CHECK(drain.totals().reads == 5);
  CHECK(driver.trace == "0123456789");
  CHECK(driver.map == map_block(2, 1) + map_block(~uint64_t{0}, 2));
  CHECK(drain.trace_proof() == Proof::kNotProvable);
  CHECK(driver.losses.empty());
}

TEST_CASE("all blocks of the map may arrive in one read") {
  Driver driver;
  driver.plan = {[&]() -> uint64_t {
    for (const uint64_t next : {1, 2, 3, 0}) {
      driver.ring.put_record(PERF_RECORD_SAMPLE, raw_sample(map_block(next, 2)));
    }
    return 1;
  }};
  HtmDrain drain = driver.make_drain();
  run(drain);
  CHECK(drain.totals().map_blocks == 4);
  CHECK(driver.losses.empty());
}

TEST_CASE("the drain waits when the driver returns 'again'") {
  Driver driver;
  driver.plan = {driver.answer(1), driver.give_trace("x......."), driver.answer(1),
                 driver.answer(1), driver.give_sample(map_block(0, 1))};
  HtmDrain drain = driver.make_drain();
  CHECK(run(drain) == 3);
  CHECK(driver.trace == "x.......");
}

TEST_CASE("an early 0 is not the end") {
  Driver driver;
  driver.plan = {driver.give_trace("one....."), driver.answer(0), driver.give_trace("two.....")};
  HtmDrain drain = driver.make_drain();
  run(drain);
  CHECK(driver.trace == "one.....two.....");
}

TEST_CASE("bytes in the rings at the first read are drained first") {
  Driver driver;
  driver.ring.put_aux(std::string(64, 'e'));
  driver.plan = {driver.give_trace("rest....")};
  HtmDrain drain = driver.make_drain();
  run(drain);
  CHECK(driver.trace == std::string(64, 'e') + "rest....");
  CHECK_FALSE(driver.read_with_full_rings);
}

TEST_CASE("a block that arrives twice is written once") {
  Driver driver;
  driver.plan = {driver.give_sample(map_block(7, 2)), driver.give_sample(map_block(7, 2)),
                 driver.give_sample(map_block(0, 1))};
  HtmDrain drain = driver.make_drain();
  run(drain);
  CHECK(driver.map == map_block(7, 2) + map_block(0, 1));
  CHECK(drain.totals().map_repeats == 1);
  CHECK(driver.losses.empty());
}

TEST_CASE("a circular map ends") {
  Driver driver;
  for (int round = 0; round < 100; round++) {
    driver.plan.push_back(driver.give_sample(map_block(5, 1, 'a')));
    driver.plan.push_back(driver.give_sample(map_block(6, 1, 'b')));
  }
  HtmDrain drain = driver.make_drain();
  run(drain);
  REQUIRE(driver.losses.size() == 1);
  CHECK(driver.losses[0].place == "memory map");
  CHECK(drain.totals().reads == 3);
}

TEST_CASE("flags of AUX records are losses") {
  for (const auto& [flag, word] :
       {std::pair{1, "TRUNCATED"}, std::pair{4, "PARTIAL"}, std::pair{8, "COLLISION"}}) {
    Driver driver;
    driver.plan = {driver.give_trace("x.......", static_cast<uint64_t>(flag))};
    HtmDrain drain = driver.make_drain();
    run(drain);
    REQUIRE(driver.losses.size() == 1);
    CHECK(driver.losses[0].cause.find(word) != std::string::npos);
  }
}

TEST_CASE("a gap that our driver announces is one loss with its reason") {
  Driver driver;
  driver.plan = {driver.say(kStarted | 1000),
                 driver.say(kGap | uint64_t{2} << 48 | 2'000'000),
                 driver.say(kGap | uint64_t{8} << 48 | 3'000'001),
                 driver.give_trace("x.......", PERF_AUX_FLAG_PARTIAL),
                 driver.say(kTraceEnd | 8),
                 driver.say(kMapEnd)};
  HtmDrain drain = driver.make_drain();
  run(drain);
  REQUIRE(driver.losses.size() == 1);
  CHECK(driver.losses[0].place == "trace");
  CHECK(driver.losses[0].cause ==
        "tracing was interrupted for 6 ms in 2 gaps: the kernel throttled the event's group; the "
        "kernel "
        "removed the event from its CPU");
}

TEST_CASE("a late begin is a loss for a caller that does not wait for it") {
  for (const bool awaited : {true, false}) {
    CAPTURE(awaited);
    Driver driver;
    driver.plan = {driver.say(kStarted | uint64_t{1} << 48 | 3'000'000'000),
                   driver.give_trace("x.......", PERF_AUX_FLAG_PARTIAL), driver.say(kTraceEnd | 8),
                   driver.say(kMapEnd)};
    HtmDrain drain = driver.make_drain({.awaits_begin = awaited});
    run(drain);
    REQUIRE(drain.started());
    CHECK(drain.started()->untraced_ns == 3'000'000'000);
    REQUIRE(driver.losses.size() == (awaited ? 0 : 1));
    if (!awaited) {
      CHECK(driver.losses[0].cause == "tracing began 3000 ms late: the hypervisor delayed START");
    }
  }
}

TEST_CASE("a PARTIAL flag without an announcement is a loss") {
  Driver driver;
  driver.plan = {driver.say(kStarted), driver.give_trace("x.......", PERF_AUX_FLAG_PARTIAL),
                 driver.say(kTraceEnd | 8), driver.say(kMapEnd)};
  HtmDrain drain = driver.make_drain();
  run(drain);
  REQUIRE(driver.losses.size() == 1);
  CHECK(driver.losses[0].cause.find("PARTIAL") != std::string::npos);
}

TEST_CASE("bytes that our driver sent and that did not arrive are a loss with its size") {
  Driver driver;
  driver.plan = {driver.give_trace("x......."), driver.say(kTraceEnd | 20), driver.say(kMapEnd)};
  HtmDrain drain = driver.make_drain();
  run(drain);
  REQUIRE(driver.losses.size() == 1);
  CHECK(driver.losses[0] ==
        Loss{"trace", "sent by the driver but not received", LossUnit::kBytes, 12, 8});
  CHECK(drain.trace_proof() == Proof::kViolated);
  CHECK(drain.map_proof() == Proof::kProven);
}

TEST_CASE("a trace that fills its memory ends too early, and the drain reports this") {
  // The last piece is full of trace, or its end is not written, or the memory is larger, or a
  // record larger than the unwritten end did not fit: then only the macro's stamp reports the full
  // memory.
  struct Ending {
    std::string last;
    uint64_t memory;
    bool full;
  };
  const Ending endings[] = {{std::string(60, 'b'), 124, true},
                            {std::string(60, 'b') + std::string(128, '\0'), 252, false},
                            {std::string(60, 'b') + std::string(127, '\0'), 251, true},
                            {std::string(60, 'b'), 4096, false},
                            {kTraceFull + std::string(240, '\0'), 312, true},
                            {kTraceFull + std::string(240, '\0'), 4096, true},
                            {kTimestamp + std::string(240, '\0'), 312, false}};
  for (const Ending& ending : endings) {
    const std::string& last = ending.last;
    const uint64_t memory = ending.memory;
    const bool full = ending.full;
    CAPTURE(memory);
    Driver driver(4096, 256);
    const uint64_t begin = kTraceBegin | memory;
    driver.plan = {driver.say(begin), driver.give_trace(std::string(64, 'a')),
                   driver.give_trace(last), driver.say(kTraceEnd | (64 + last.size())),
                   driver.say(kMapEnd)};
    HtmDrain drain = driver.make_drain({.reports_full = &reports_full});
    run(drain);
    CHECK(drain.memory_full() == full);
    CHECK(drain.trace_proof() == Proof::kProven);
    REQUIRE(driver.losses.size() == (full ? 1 : 0));
    if (!full) continue;
    CHECK(driver.losses[0].place == "trace memory");
    CHECK(driver.losses[0].position == 64 + last.size());
  }
}

TEST_CASE("a flight recorder's full memory is no loss, nor is an earlier loss") {
  Driver driver(4096, 256);
  driver.plan = {driver.say(kTraceBegin | 64), driver.give_trace(std::string(64, 'a'))};
  driver.lost_records = 3;
  HtmDrain drain = driver.make_drain({.wraps = true, .lost_records = 3});
  run(drain);
  CHECK(drain.totals().lost_records == 0);
  CHECK(drain.trace_proof() == Proof::kViolated);  // the driver did not report the end

  Driver whole(4096, 256);
  whole.plan = {whole.say(kTraceBegin | 64), whole.give_trace(std::string(64, 'a')),
                whole.say(kTraceEnd | 64), whole.say(kMapEnd)};
  HtmDrain second = whole.make_drain({.wraps = true, .lost_records = 0});
  run(second);
  CHECK(second.memory_full() == true);
  CHECK(whole.losses.empty());
}

TEST_CASE("without a driver's count, the kernel's records must match the delivered bytes") {
  Driver driver;
  driver.plan = {[&]() -> uint64_t {
    driver.announce_aux(16, 0);
    driver.ring.put_aux("x.......");
    return 2;
  }};
  HtmDrain drain = driver.make_drain();
  run(drain);
  REQUIRE(driver.losses.size() == 1);
  CHECK(driver.losses[0].amount == 8);
  CHECK(drain.trace_proof() == Proof::kViolated);
  CHECK_FALSE(drain.memory_full());
}

TEST_CASE("a trace whose end our driver did not announce is not proven") {
  Driver driver;
  driver.plan = {driver.say(kTraceBegin | 64), driver.give_trace("x.......")};
  HtmDrain drain = driver.make_drain();
  run(drain);
  CHECK(drain.trace_proof() == Proof::kViolated);
  REQUIRE(driver.losses.size() == 2);
  CHECK(driver.losses[0].place == "trace");
  CHECK(driver.losses[1].place == "memory map");
}

TEST_CASE("a record without room is no loss if all its content arrives later") {
  const std::string block = map_block(0, 2);
  const auto lost = native_words({1, 3});
  for (const bool announced : {true, false}) {
    CAPTURE(announced);
    Driver driver;
    driver.lost_records = 3;
    driver.plan = {driver.give_trace("x......."), [&]() -> uint64_t {
                     driver.ring.put_record(PERF_RECORD_LOST, lost);
                     return driver.give_sample(block)();
                   }};
    if (announced) {
      driver.plan.push_back(driver.say(kTraceEnd | 8));
      driver.plan.push_back(driver.say(kMapEnd | block.size()));
    }
    HtmDrain drain = driver.make_drain();
    run(drain);
    CHECK(drain.totals().lost_records == 3);
    if (announced) {
      CHECK(driver.losses.empty());
    } else {
      REQUIRE(driver.losses.size() == 1);
      CHECK(driver.losses[0] ==
            Loss{"data ring", "the data ring was full", LossUnit::kRecords, 3, 8});
    }
  }
}

TEST_CASE("lost records are counted by the event itself if no record reports them") {
  Driver driver;
  driver.lost_records = 5;
  driver.plan = {driver.give_trace("x.......")};
  HtmDrain drain = driver.make_drain();
  run(drain);
  REQUIRE(driver.losses.size() == 1);
  CHECK(driver.losses[0].amount == 5);
}

TEST_CASE("a refusal is reported without read(2)") {
  Driver driver;
  driver.announce(kError | uint64_t{5} << 48 | uint64_t{1} << 32 | uint32_t(-10));
  HtmDrain drain = driver.make_drain();
  drain.look();
  REQUIRE(drain.error());
  CHECK(drain.error()->operation == 5);
  CHECK(drain.error()->error_number == 1);
  CHECK(drain.error()->return_code == -10);
  CHECK(drain.totals().reads == 0);
}

TEST_CASE("an event in the error state, or switched off, ends the drain with a loss") {
  Driver driver;
  driver.error_state = true;
  HtmDrain drain = driver.make_drain();
  run(drain);
  REQUIRE(driver.losses.size() == 1);
  CHECK(driver.losses[0].place == "event");

  Driver stopped;
  stopped.running = false;
  for (int i = 0; i < 100; i++) stopped.plan.push_back(stopped.answer(7));
  HtmDrain stalled = stopped.make_drain();
  CHECK(run(stalled) < 5);
  REQUIRE(stopped.losses.size() == 1);
  CHECK(stopped.losses[0].cause == "the kernel disabled the event before the end of the trace");
}

TEST_CASE("trace that arrives after a throttle is not read as trace") {
  Driver driver;
  driver.plan = {driver.give_trace("good...."),
                 [&]() -> uint64_t {
                   driver.ring.put_record(PERF_RECORD_THROTTLE, native_words({1, 2, 3}));
                   return 1;
                 },
                 driver.give_trace("again.."), driver.give_sample(map_block(0, 1))};
  HtmDrain drain = driver.make_drain();
  run(drain);
  CHECK(driver.trace == "good....");
  CHECK(drain.totals().map_blocks == 1);
  REQUIRE(driver.losses.size() == 2);
  CHECK(driver.losses[1].amount == 7);
}

TEST_CASE("invalid samples and records are counted and ignored") {
  Driver driver;
  std::string lying = map_block(0, 2);
  lying[0x17] = 3;  // three entries, but room for two
  driver.plan = {driver.give_sample(lying), driver.give_sample("mark"), [&]() -> uint64_t {
                   driver.ring.put_record(PERF_RECORD_SAMPLE, native_words({1, 2}));
                   driver.ring.put_record(PERF_RECORD_AUX, native_words({1}));
                   std::string oversized = raw_sample(map_block(0, 1));
                   oversized[40 + 2] = 1;  // a raw size beyond the record
                   driver.ring.put_record(PERF_RECORD_SAMPLE, oversized);
                   return 1;
                 }};
  HtmDrain drain = driver.make_drain();
  run(drain);
  CHECK(driver.map.empty());
  CHECK(driver.losses.size() == 5);
}

}  // namespace htmtrace
