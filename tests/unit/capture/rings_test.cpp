// SPDX-License-Identifier: GPL-2.0-or-later
#include "ringbuf/rings.h"

#include <doctest/doctest.h>

#include "tests/unit/plain_ring.h"

namespace htmtrace {
namespace {

std::vector<std::string> drain_bodies(PlainRing& ring, uint64_t* skipped = nullptr) {
  std::vector<std::string> bodies;
  const uint64_t bytes =
      ring.data().drain([&](const Record& record) { bodies.push_back(text_of(record.body)); });
  if (skipped != nullptr) *skipped = bytes;
  return bodies;
}

}  // namespace

TEST_CASE("records arrive in order, and their space is released") {
  PlainRing ring(256, 256);
  CHECK(ring.put_record(1, "one.....two....."));
  CHECK(ring.put_record(2, "three..."));
  CHECK(drain_bodies(ring) == std::vector<std::string>{"one.....two.....", "three..."});
  CHECK(ring.page().data_tail == ring.page().data_head);
  CHECK(drain_bodies(ring).empty());
}

TEST_CASE("a record that wraps is joined at every offset") {
  for (uint64_t start = 0; start < 64; start += 8) {
    CAPTURE(start);
    PlainRing ring(64, 64);
    ring.start_at(start + (uint64_t{1} << 40));
    CHECK(ring.put_record(9, "0123456789abcdefghijklmn"));
    CHECK(drain_bodies(ring) == std::vector<std::string>{"0123456789abcdefghijklmn"});
  }
}

TEST_CASE("a record with an impossible size ends the ring's content and is counted") {
  for (const int size : {0, 4, 12, 72}) {  // 56 bytes are left
    CAPTURE(size);
    PlainRing ring(256, 256);
    CHECK(ring.put_record(1, "good...."));
    const uint64_t bad = ring.page().data_head;
    CHECK(ring.put_record(1, native_words({1, 2, 3, 4, 5, 6})));
    ring.corrupt_record_size(bad, static_cast<uint16_t>(size));
    uint64_t skipped = 0;
    CHECK(drain_bodies(ring, &skipped) == std::vector<std::string>{"good...."});
    CHECK(skipped == 56);
    CHECK(ring.page().data_tail == ring.page().data_head);
  }
}

TEST_CASE("a head out of range delivers nothing, and the reader catches up") {
  PlainRing ring(64, 64);
  ring.page().data_head = 65;
  uint64_t skipped = 0;
  CHECK(drain_bodies(ring, &skipped).empty());
  CHECK(skipped == 65);
  CHECK(ring.page().data_tail == 65);
}

TEST_CASE("AUX bytes are one span, or two spans around the end") {
  PlainRing ring(64, 64);
  ring.put_aux("abcdef");
  AuxBytes bytes = ring.aux().peek();
  CHECK(text_of(bytes.first) == "abcdef");
  CHECK(bytes.second.empty());
  ring.aux().release(bytes);
  CHECK(ring.page().aux_tail == 6);

  ring.start_at((uint64_t{1} << 33) + 60);
  ring.put_aux("0123456789");
  bytes = ring.aux().peek();
  CHECK(text_of(bytes.first) == "0123");
  CHECK(text_of(bytes.second) == "456789");
  CHECK(bytes.size() == 10);
  ring.aux().release(bytes);
  CHECK(ring.aux().peek().size() == 0);
}

TEST_CASE("a full AUX ring delivers all its bytes") {
  PlainRing ring(64, 64);
  ring.start_at(40);
  ring.put_aux(std::string(64, 'x'));
  const AuxBytes bytes = ring.aux().peek();
  CHECK(bytes.size() == 64);
  CHECK(bytes.overrun == 0);
}

TEST_CASE("an overrun AUX ring delivers the count of its bytes, then continues") {
  PlainRing ring(64, 64);
  ring.put_aux(std::string(65, 'x'));
  const AuxBytes bytes = ring.aux().peek();
  CHECK(bytes.size() == 0);
  CHECK(bytes.overrun == 65);
  ring.aux().release(bytes);
  ring.put_aux("new");
  CHECK(text_of(ring.aux().peek().first) == "new");
}

TEST_CASE("if the driver runs ahead in an AUX ring, only untouched bytes are delivered") {
  PlainRing ring(64, 64);
  ring.put_aux(std::string(56, 'x'));
  AuxBytes bytes = ring.aux().peek_untouched(8);
  CHECK(bytes.size() == 56);
  CHECK(bytes.overrun == 0);
  bytes = ring.aux().peek_untouched(12);
  CHECK(bytes.size() == 52);
  CHECK(bytes.overrun == 4);

  ring.put_aux("0123456789ab");  // 68 in total: four of the first bytes are overwritten
  bytes = ring.aux().peek_untouched(8);
  CHECK(bytes.overrun == 12);
  CHECK(text_of(bytes.first) == std::string(44, 'x') + "01234567");
  CHECK(text_of(bytes.second) == "89ab");
  ring.aux().release(bytes);
  CHECK(ring.page().aux_tail == 68);

  ring.put_aux(std::string(64, 'y'));
  bytes = ring.aux().peek_untouched(100);
  CHECK(bytes.size() == 0);
  CHECK(bytes.overrun == 64);
}

}  // namespace htmtrace
