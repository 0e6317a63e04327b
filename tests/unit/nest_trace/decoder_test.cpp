// SPDX-License-Identifier: GPL-2.0-or-later
// Decodes bus records of the test encoder to events: fields, responses, times, two engines.
#include "core/nest_trace/decoder.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "cli/traces/nest_reading.h"
#include "core/nest_trace/layout.h"
#include "core/nest_trace/units.h"
#include "output/io/input_file.h"
#include "output/print/nest_printer.h"
#include "tests/encoder/nest.h"
#include "tests/encoder/power10.h"
#include "tests/generator/generated_trace.h"
#include "tests/unit/rounds.h"
#include "tests/unit/temporary_folder.h"

namespace htmtrace::nest {
namespace {

using generator::bytes_of;
using generator::Random;
using Words = std::vector<uint64_t>;

void put_stamp(Words& words, std::optional<uint64_t> timer, uint64_t stamp) {
  uint64_t pair[kPower10CompanionWords];
  power10_companion(pair, timer.value_or(0), 0, stamp);
  words.push_back(timer ? pair[0] : 0);
  words.push_back(stamp);
}

std::vector<Event> decode(Layout layout, const Words& words, uint8_t engine = 0) {
  Decoder decoder(layout, engine);
  const std::vector<std::byte> bytes = bytes_of(words);
  decoder.take(bytes, 0);
  decoder.finish();
  REQUIRE(decoder.statistics().accounted_bytes() == bytes.size());
  const auto ready = decoder.ready();
  return {ready.begin(), ready.end()};
}

// Returns a command of the layout with random fields.
nest_command random_command(Random& random, Layout layout) {
  const bool power8 = layout == Layout::kPower8;
  const Names& names = names_of(layout);
  nest_command command{};
  do {
    command.ttype = static_cast<unsigned>(random.below(power8 ? 64 : 128));
    command.tsize = static_cast<unsigned>(random.below(power8 ? 128 : 256));
  } while (names.command(command.ttype, command.tsize).name.empty());
  command.address = power8 ? random.next() & 0x3ffffffffffff : random.next() & 0xfffffffffffc;
  command.group = static_cast<unsigned>(random.below(power8 ? 8 : 16));
  command.chip = static_cast<unsigned>(random.below(8));
  command.unit = static_cast<unsigned>(random.below(power8 ? 256 : 1024));
  command.transaction = static_cast<unsigned>(random.below(32));
  command.ticket = static_cast<unsigned>(random.below(power8 ? 64 : 128));
  command.scope = power8 ? static_cast<unsigned>(random.below(4))
                         : std::array{0U, 2U, 3U, 4U, 5U}.at(random.below(5));
  command.source = static_cast<unsigned>(power8 ? random.below(4) : 0);
  command.priority = static_cast<unsigned>(power8 ? random.below(4) : 0);
  command.delta = static_cast<unsigned>(random.below(power8 ? 256 : 16));
  return command;
}

void check_command(const Command& found, const nest_command& made) {
  REQUIRE(found.address == made.address);
  REQUIRE(found.tag.group == made.group);
  REQUIRE(found.tag.chip == made.chip);
  REQUIRE(found.tag.unit == made.unit);
  REQUIRE(found.tag.transaction == made.transaction);
  REQUIRE(found.ticket == made.ticket);
  REQUIRE(found.scope == made.scope);
  REQUIRE(found.ttype == made.ttype);
  REQUIRE(found.tsize == made.tsize);
  REQUIRE(found.source == made.source);
  REQUIRE(found.priority == made.priority);
}

void encode(Layout layout, Words& words, const nest_command& command,
            const nest_response* embedded = nullptr) {
  uint64_t pair[2];
  (layout == Layout::kPower8 ? power8_nest_command : power9_nest_command)(pair, &command, embedded);
  words.insert(words.end(), pair, pair + 2);
}

void encode_responses(Layout layout, Words& words, const nest_response& response, unsigned slot,
                      unsigned delta) {
  const nest_response* slots[4] = {};
  slots[slot] = &response;
  uint64_t pair[2];
  (layout == Layout::kPower8 ? power8_nest_responses : power9_nest_responses)(pair, slots, delta);
  words.insert(words.end(), pair, pair + 2);
}

// Returns the response to a command on `port`.
nest_response response_to(const nest_command& command, unsigned port, unsigned code,
                          Layout layout) {
  return {.code = code,
          .group = command.group,
          .chip = command.chip,
          .ticket = command.ticket,
          .snoop_port = layout == Layout::kPower8 ? port : port >> 1,
          .scope = command.scope,
          .target = layout == Layout::kPower8 ? 0U : 21U};
}

Command address_only(uint64_t address) {
  Command command;
  command.address = address;
  return command;
}

void round_trip(Layout layout) {
  Random random(static_cast<uint64_t>(layout));
  Words words;
  std::vector<nest_command> made;
  uint64_t time = 0;
  for (unsigned i = 0; i < rounds(60000); i++) {
    made.push_back(random_command(random, layout));
    encode(layout, words, made.back());
  }
  const std::vector<Event> events = decode(layout, words);
  REQUIRE(events.size() == made.size());
  for (size_t i = 0; i < made.size(); i++) {
    time += made.at(i).delta;
    REQUIRE(events.at(i).kind == Event::Kind::kCommand);
    REQUIRE(events.at(i).time == time);
    REQUIRE(events.at(i).offset == i * kRecordBytes);
    check_command(command_of(layout, events.at(i).record), made.at(i));
  }
}

}  // namespace

TEST_CASE("the worked examples of the reference decode correctly") {
  const Words power9 = {0x8a10a062468acf13, 0x53aa010140000000, 0x8a10a062468acf13,
                        0x53aa0101611554c0, 0x6402474000000000, 0xe0c7f20240000000,
                        0x3ffe123456789000, 0xaceff8000000004d};
  // Engine 1 sees the odd ports, as bits 55-56 of the address show.
  const std::vector<Event> events = decode(Layout::kPower9, power9, 1);
  REQUIRE(events.size() == 5);
  const Command command = command_of(Layout::kPower9, events.at(0).record);
  CHECK(command.address == 0x123456789a80);
  CHECK(command.tag.unit == 0x42);
  CHECK(command.tag.transaction == 0x13);
  CHECK(power9_names().command(command.ttype, command.tsize).name == "rd_go_s");
  // Both commands match the response in the second record. The older command gets this response.
  CHECK(events.at(0).has_response);
  CHECK(events.at(0).response == 1);
  CHECK(events.at(0).time == 0x123456789 - 77 - 9 - 5);
  CHECK_FALSE(events.at(1).has_response);
  CHECK(events.at(2).kind == Event::Kind::kResponse);
  const Response first = response_of(Layout::kPower9, events.at(2).record, events.at(2).slot);
  CHECK(first.code == 4);
  CHECK(first.chip == 1);
  CHECK(first.ticket == 0x11);
  CHECK(first.scope == 5);
  CHECK(events.at(2).port == 3);
  const Response second = response_of(Layout::kPower9, events.at(3).record, events.at(3).slot);
  CHECK(second.code == 0x18);
  CHECK(second.group == 3);
  CHECK(second.ticket == 0x7f);
  CHECK(events.at(4).kind == Event::Kind::kStamp);
  CHECK(stamp_of(Layout::kPower9, events.at(4)).elapsed == 77);
  CHECK(events.at(4).time == 0x123456789);

  const Command old = command_of(Layout::kPower8, {0x9436c23456789a80, 0xa804041121000000});
  CHECK(old.address == 0x123456789a80);
  CHECK(old.tag.unit == 0x1b);
  CHECK(old.ticket == 0x2a);
  CHECK(power8_names().command(old.ttype, old.tsize).name == "rd_go_s");
  CHECK(nest_scope_name(Layout::kPower8, old.scope) == "GP");
}

TEST_CASE("120000 random commands decode to the encoded commands") {
  round_trip(Layout::kPower8);
  round_trip(Layout::kPower9);
}

TEST_CASE("responses find their commands within reach, and only once") {
  for (const Layout layout : {Layout::kPower8, Layout::kPower9}) {
    Random random(3);
    Words words;
    std::vector<std::optional<unsigned>> expected;
    for (unsigned i = 0; i < rounds(20000); i++) {
      nest_command command = random_command(random, layout);
      // No other command within reach has this key.
      command.ticket = i % 64;
      command.group = i / 64 % 8;
      const Names& names = names_of(layout);
      Command seen = address_only(command.address);
      seen.tag.transaction = command.transaction;
      seen.tsize = command.tsize;
      const unsigned port = port_of(layout, seen, names.command(command.ttype, command.tsize).port);
      const uint8_t engine = port & 1;
      if (layout == Layout::kPower9 && engine == 1) command.address &= ~uint64_t{0x80};
      encode(layout, words, command);
      if (layout == Layout::kPower9 && engine == 1) {
        expected.emplace_back();
        continue;
      }
      if (random.chance(800)) {
        const auto code = static_cast<unsigned>(random.below(32));
        encode_responses(layout, words, response_to(command, port, code, layout),
                         static_cast<unsigned>(random.below(4)), 1);
        expected.emplace_back(code);
      } else {
        expected.emplace_back();
      }
    }
    const std::vector<Event> events = decode(layout, words);
    REQUIRE(events.size() == expected.size());
    for (size_t i = 0; i < events.size(); i++) {
      REQUIRE(events.at(i).has_response == expected.at(i).has_value());
      if (expected.at(i)) REQUIRE(events.at(i).response == *expected.at(i));
    }
  }
}

TEST_CASE("a response out of reach, or a second response, is reported separately") {
  Random random(5);
  nest_command command = random_command(random, Layout::kPower8);
  command.ticket = 63;
  const Names& names = power8_names();
  const unsigned port = port_of(Layout::kPower8, address_only(command.address),
                                names.command(command.ttype, command.tsize).port);
  const nest_response response = response_to(command, port, 4, Layout::kPower8);
  Words words;
  encode(Layout::kPower8, words, command);
  encode_responses(Layout::kPower8, words, response, 0, 0);
  encode_responses(Layout::kPower8, words, response, 1, 0);
  encode(Layout::kPower8, words, command);
  for (size_t i = 0; i < Decoder::kReach; i++) {
    nest_command other = random_command(random, Layout::kPower8);
    other.ticket %= 63;
    encode(Layout::kPower8, words, other);
  }
  encode_responses(Layout::kPower8, words, response, 0, 0);
  const std::vector<Event> events = decode(Layout::kPower8, words);
  REQUIRE(events.size() == Decoder::kReach + 4);
  CHECK(events.at(0).has_response);
  CHECK(events.at(1).kind == Event::Kind::kResponse);
  CHECK_FALSE(events.at(2).has_response);
  CHECK(events.back().kind == Event::Kind::kResponse);
}

TEST_CASE("the clock adds up ticks, and timers correct the sum") {
  Clock clock;
  clock.pass(5);
  CHECK(clock.now() == 5);
  CHECK(clock.hear(1000));
  clock.pass(10);
  CHECK(clock.hear(1010));
  CHECK_FALSE(clock.hear(1500));
  CHECK(clock.now() == 1500);
  CHECK_FALSE(clock.hear(1400));  // never backwards
  CHECK(clock.now() == 1500);
  CHECK_FALSE(clock.hear(0xfffffffff));
  Clock wraps;
  wraps.hear(0xffffffff0);
  wraps.pass(0x20);
  CHECK(wraps.hear(0x10));
  CHECK(wraps.now() == 0x1000000010);
}

TEST_CASE("the layout is determined from the trace") {
  Random random(9);
  Words power8, power9, noise;
  put_stamp(power8, std::nullopt, power10_record(0));
  put_stamp(power9, 100, power10_record(0));
  put_stamp(noise, 100, power10_record(0));
  for (int i = 0; i < 1000; i++) {
    encode(Layout::kPower8, power8, random_command(random, Layout::kPower8));
    encode(Layout::kPower9, power9, random_command(random, Layout::kPower9));
    noise.push_back(random.next() | uint64_t{1} << 63);
    noise.push_back(random.next());
  }
  CHECK(judge_layout(bytes_of(power8)).layout == Layout::kPower8);
  CHECK(judge_layout(bytes_of(power9)).layout == Layout::kPower9);
  const LayoutEvidence unknown = judge_layout(bytes_of(noise));
  CHECK(unknown.layout == Layout::kUnknown);
  CHECK(unknown.commands == 1000);
  CHECK(unknown.fit_power9 < 200);
  CHECK(judge_layout({}).layout == Layout::kUnknown);
}

TEST_CASE("two engines are merged by time, wherever their lines are") {
  Random random(4);
  // Engine 0 is four times as busy, so its lines run ahead of the lines of engine 1.
  constexpr std::array kCommands{rounds(40000), rounds(10000)};
  std::array<Words, 2> stream;
  std::vector<uint64_t> times;
  for (unsigned engine = 0; engine < 2; engine++) {
    uint64_t time = 5000;
    put_stamp(stream.at(engine), time, power10_record(0));
    for (unsigned i = 0; i < kCommands.at(engine); i++) {
      nest_command command = random_command(random, Layout::kPower9);
      command.delta = static_cast<unsigned>(engine == 0 ? random.below(4) : random.below(16));
      time += command.delta;
      times.push_back(time);
      encode(Layout::kPower9, stream.at(engine), command);
    }
  }
  std::sort(times.begin(), times.end());
  constexpr size_t kLine = kLineBytes / 8;
  Words words;
  for (size_t line = 0; line * kLine < stream.at(0).size(); line++) {
    for (const Words& own : stream) {
      for (size_t i = line * kLine; i < (line + 1) * kLine; i++) {
        words.push_back(i < own.size() ? own.at(i) : 0);
      }
    }
  }
  const TemporaryFolder folder;
  const std::vector<std::byte> bytes = bytes_of(words);
  folder.write("trace", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  struct Sink {
    void event(const Event& event) {
      if (event.kind != Event::Kind::kCommand) return;
      found.push_back(event.time);
      engines.at(event.engine)++;
    }
    std::vector<uint64_t> found;
    std::array<size_t, 2> engines{};
  } sink;
  NestReading reading({.path = folder.path() / "trace", .place = std::nullopt}, std::nullopt);
  CHECK(reading.layout() == Layout::kPower9);
  CHECK(reading.engines() == 2);
  while (reading.advance(sink)) {
  }
  CHECK(sink.engines.at(0) == kCommands[0]);
  CHECK(sink.engines.at(1) == kCommands[1]);
  CHECK(sink.found == times);
  CHECK(reading.statistics().accounted_bytes() == bytes.size());
}

TEST_CASE("invalid records are counted, and valid records are decoded") {
  Random random(6);
  Words words;
  encode(Layout::kPower9, words, random_command(random, Layout::kPower9));
  words.insert(words.end(), {0, 0, 0x0123456789abcdef, 0x1122334455667788});
  encode(Layout::kPower9, words, random_command(random, Layout::kPower9));
  Decoder decoder(Layout::kPower9, 0);
  std::vector<std::byte> bytes = bytes_of(words);
  bytes.resize(bytes.size() + 5);
  decoder.take(bytes, 0);
  decoder.finish();
  CHECK(decoder.ready().size() == 3);
  CHECK(decoder.statistics().filler_records == 1);
  CHECK(decoder.statistics().unknown_records == 1);
  CHECK(decoder.statistics().loose_bytes == 5);
  CHECK(decoder.statistics().defect_count() == 2);
  CHECK(decoder.statistics().accounted_bytes() == bytes.size());
}

TEST_CASE("names and units are correct") {
  CHECK(power9_names().command(0x31, 0x40).name == "pMisc_HTM_extended_marker_NCU");
  CHECK(power9_names().command(0x31, 0x00).name == "pMisc_RESERVED");
  CHECK(power9_names().command(0x3f, 0xff).name == "nop");
  CHECK(power8_names().command(0x20, 0x0a).name == "dcbfk");
  CHECK(power8_names().response(ResponseClass::kLco, 9) == "hpc:no_data");
  CHECK(power9_names().response(ResponseClass::kRma, 0x15) == "ack_reject");
  CHECK(power9_names().response(ResponseClass::kAck, 1).empty());
  CHECK(unit_name(Layout::kPower9, 0x042) == "core");
  CHECK(unit_name(Layout::kPower9, 0x124) == "nhtm0");
  CHECK(unit_name(Layout::kPower9, 0x3a5) == "pci");
  CHECK(unit_name(Layout::kPower8, 0x1b) == "core");
  CHECK(unit_name(Layout::kPower8, 0x90) == "mcs");
  CHECK(unit_name(Layout::kUnknown, 0x90) == "other");
}

}  // namespace htmtrace::nest
