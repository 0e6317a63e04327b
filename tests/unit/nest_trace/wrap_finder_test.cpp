// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a wrapped bus trace that was dumped from the buffer's first byte. Each engine is read from
// its own oldest record.
#include "core/nest_trace/wrap_finder.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "cli/traces/nest_reading.h"
#include "tests/encoder/nest.h"
#include "tests/encoder/power10.h"
#include "tests/generator/generated_trace.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace::nest {
namespace {

using Words = std::vector<uint64_t>;

constexpr uint64_t kTimeShift =
    12;  // an address bit position: commands carry their send time above this bit
constexpr size_t kLineRecords = kLineBytes / kRecordBytes;

void put_bus_stamp(Words& words, uint64_t timer, uint64_t stamp) {
  uint64_t pair[kPower10CompanionWords];
  power10_companion(pair, timer, 0, stamp);
  words.insert(words.end(), std::begin(pair), std::end(pair));
}

// Commands that carry their time, with a timer after every 30 commands.
Words engine_records(unsigned commands, uint64_t ticks, bool complete = true) {
  Words words;
  uint64_t time = 5000;
  put_bus_stamp(words, time, power10_record(0));
  for (unsigned i = 0; i < commands; i++) {
    time += ticks;
    nest_command command{};
    command.address = time << kTimeShift;
    command.scope = 3;
    command.ttype = 8;  // rwitm
    command.delta = static_cast<unsigned>(ticks);
    uint64_t pair[2];
    power9_nest_command(pair, &command, nullptr);
    words.insert(words.end(), std::begin(pair), std::end(pair));
    if (i % 30 == 29) put_bus_stamp(words, time, power10_time(kPower10TimeElapsed, 0, 0));
  }
  if (complete) put_bus_stamp(words, time, power10_complete(0));
  return words;
}

// Returns each engine's newest `capacity` records, at their positions in a buffer of two parts.
Words buffer_of(const std::array<Words, 2>& engines, size_t capacity) {
  Words buffer(capacity * 2 * 2);
  for (size_t engine = 0; engine < 2; engine++) {
    for (size_t i = 0; i < engines[engine].size() / 2; i++) {
      const size_t record = i % capacity;
      const size_t line = record / kLineRecords * 2 + engine;
      const size_t at = (line * kLineRecords + record % kLineRecords) * 2;
      buffer.at(at) = engines[engine].at(i * 2);
      buffer.at(at + 1) = engines[engine].at(i * 2 + 1);
    }
  }
  return buffer;
}

// Returns the offset in such a buffer that is overwritten next.
uint64_t next_place(const Words& engine, size_t capacity, size_t number) {
  const size_t record = engine.size() / 2 % capacity;
  return (record / kLineRecords * 2 + number) * kLineBytes + record % kLineRecords * kRecordBytes;
}

struct Times {
  void event(const Event& event) {
    if (event.kind != Event::Kind::kCommand) return;
    commands++;
    const uint64_t sent = Power9::command(event.record).address >> kTimeShift;
    if (event.time != sent) wrong++;
    if (event.time < latest) out_of_order++;
    latest = event.time;
  }
  uint64_t latest = 0;
  uint64_t commands = 0, wrong = 0, out_of_order = 0;
};

std::optional<uint64_t> oldest_of_one(const Words& words) {
  WrapFinder finder;
  finder.take(generator::bytes_of(words), 0);
  return finder.oldest();
}

Words joined(std::initializer_list<Words> parts) {
  Words all;
  for (const Words& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace

TEST_CASE("engines of a wrapped bus trace are read from their oldest records") {
  const TemporaryFolder folder;
  struct Case {
    unsigned commands[2];
    bool wrapped[2];
  };
  constexpr size_t kCapacity = 40000;  // more than one read piece
  for (const Case& one :
       {Case{{70001, 90003}, {true, true}}, Case{{70003, 20000}, {true, false}},
        Case{{300, 39990 + 3}, {false, true}}, Case{{30000, 2}, {false, false}}}) {
    std::array<Words, 2> engines;
    std::array<uint64_t, 2> oldest{};
    uint64_t records = 0;
    for (size_t i = 0; i < 2; i++) {
      engines.at(i) = engine_records(one.commands[i], i + 2);
      if (one.wrapped[i]) oldest.at(i) = next_place(engines.at(i), kCapacity, i);
      records += std::min(engines.at(i).size() / 2, kCapacity);
    }
    const std::vector<std::byte> bytes = generator::bytes_of(buffer_of(engines, kCapacity));
    folder.write("trace", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    const ChosenTrace trace{.path = folder.path() / "trace", .place = {}};
    NestReading reading(trace, {});
    CHECK(reading.had_wrapped() == (one.wrapped[0] || one.wrapped[1]));
    CHECK(reading.oldest() == oldest);
    CHECK(describe_wrap(reading).empty() == (oldest == std::array<uint64_t, 2>{}));
    Times times;
    while (reading.advance(times)) {
    }
    const Statistics statistics = reading.statistics();
    CHECK(statistics.bytes == bytes.size());
    CHECK(statistics.commands + statistics.stamp_records == records);
    CHECK(times.commands == statistics.commands);
    CHECK(times.wrong == 0);
    CHECK(times.out_of_order == 0);
    NestReading as_it_is(trace, {});
    as_it_is.keep_file_order();
    CHECK_FALSE(as_it_is.had_wrapped());
    Times in_file;
    while (as_it_is.advance(in_file)) {
    }
    CHECK(in_file.commands == times.commands);
    CHECK((in_file.wrong == 0) == describe_wrap(reading).empty());
  }
}

TEST_CASE("the wrap of a bus trace is found by its end, or else by its timers") {
  const Words straight = engine_records(200, 3);
  const Words no_end = engine_records(200, 3, /*complete=*/false);
  const auto half = [](const Words& words) { return static_cast<ptrdiff_t>(words.size() / 4 * 2); };
  const Words first(straight.begin(), straight.begin() + half(straight));
  const Words second(straight.begin() + half(straight), straight.end());
  const Words second_without_end(no_end.begin() + half(no_end), no_end.end());
  CHECK_FALSE(oldest_of_one({}));
  CHECK_FALSE(oldest_of_one(straight));
  CHECK_FALSE(oldest_of_one(no_end));
  CHECK_FALSE(oldest_of_one(second));
  // The begin was overwritten up to here, or follows the end with its RECORD.
  const Words overwritten(first.begin() + 10, first.end());
  CHECK(oldest_of_one(joined({second, overwritten})) == second.size() * 8);
  CHECK(oldest_of_one(joined({second, first})) == second.size() * 8);
  // The unused rest of an engine's last line is not a record.
  CHECK(oldest_of_one(joined({second, {0, 0, 0, 0}, overwritten})) == second.size() * 8 + 32);
  CHECK_FALSE(oldest_of_one(joined({second, {0, 0, 0, 0}})));
  // Without an end, the trace begins at the first old timer.
  CHECK(oldest_of_one(joined({second_without_end, first})) == second_without_end.size() * 8);
  Words timer;
  put_bus_stamp(timer, 5001, power10_time(kPower10TimeElapsed, 0, 0));
  const Words some(first.begin() + 2, first.begin() + 10);
  CHECK(oldest_of_one(joined({second_without_end, some, timer})) ==
        (second_without_end.size() + some.size()) * 8);
  // Stopped and restarted; started again from the begin; and without a unique position.
  Words again;
  put_bus_stamp(again, 9000, power10_record(1));
  CHECK_FALSE(oldest_of_one(joined({second, again, some})));
  CHECK_FALSE(oldest_of_one(joined({straight, second})));
  CHECK_FALSE(oldest_of_one(joined({second, some, second, some})));
  // The timer wrapped, which is not a step back.
  Words round;
  put_bus_stamp(round, 0xffffffff0, power10_time(kPower10TimeElapsed, 0, 0));
  put_bus_stamp(round, 0x10, power10_time(kPower10TimeElapsed, 0, 0));
  CHECK_FALSE(oldest_of_one(round));
}

}  // namespace htmtrace::nest
