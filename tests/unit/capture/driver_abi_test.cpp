// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the drain against every public htm driver and our own driver, each with its own delivery.
// The drivers differ in the size and target of a dump, the delivery of the memory map, the value of
// read(2), and the end of the trace.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "ringbuf/htm_drain.h"
#include "tests/unit/big_endian.h"
#include "tests/unit/plain_ring.h"

namespace htmtrace {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kAuxBytes = 4 * kPage;

std::vector<std::string> three_blocks() {
  std::vector<std::string> blocks;
  for (const uint64_t next : {7, 9, 0}) {
    blocks.push_back(big_endian(0) + big_endian(next) + big_endian(2) + big_endian(0) +
                     std::string(64, static_cast<char>('a' + next)));
  }
  return blocks;
}

std::string joined(const std::vector<std::string>& blocks) {
  std::string text;
  for (const std::string& block : blocks) text += block;
  return text;
}

// Returns a trace of `size` bytes in which all pages differ.
std::string some_trace(size_t size) {
  std::string text(size, '\0');
  for (size_t at = 0; at < size; at++)
    text[at] = static_cast<char>(1 + (at * 31 + at / kPage) % 255);
  return text;
}

// The common parts of these drivers: rings, a trace, a map, and the event's own counts.
class PublicDriver {
 public:
  explicit PublicDriver(size_t trace_bytes) : trace_(some_trace(trace_bytes)) {}
  virtual ~PublicDriver() = default;
  PublicDriver(const PublicDriver&) = delete;
  PublicDriver& operator=(const PublicDriver&) = delete;

  HtmDrain::Driver run() {
    HtmDrain drain([this] { return read(); }, ring_.data(), ring_.aux(),
                   {.trace = [this](auto bytes) { trace_read += text_of(bytes); },
                    .map = [this](auto bytes) { map_read += text_of(bytes); },
                    .loss = [this](const Loss& loss) { losses.push_back(loss); }},
                   {.wraps = false, .lost_records = 0});
    int steps = 0;
    while (drain.step() != HtmDrain::Step::kDone) REQUIRE(++steps < 10000);
    drain.finish();
    trace_proof = drain.trace_proof();
    return drain.driver();
  }

  const std::string& trace() const { return trace_; }
  std::string trace_read, map_read;
  std::vector<Loss> losses;
  Proof trace_proof = Proof::kViolated;
  std::vector<std::string> blocks = three_blocks();

 protected:
  // Performs one read(2) and returns its value.
  virtual uint64_t deliver() = 0;

  // Writes the next `size` bytes of the trace, or the remaining bytes and zeros.
  void put_trace(size_t size) {
    std::string piece = trace_.substr(std::min(dumped_, trace_.size()), size);
    piece.resize(size, '\0');
    dumped_ += size;
    put_aux(piece);
  }
  void put_aux(const std::string& bytes) {
    ring_.put_record(PERF_RECORD_AUX, native_words({ring_.page().aux_head, bytes.size(), 0}));
    ring_.put_aux(bytes);
  }
  void put_sample(const std::string& payload) {
    const size_t padded = (payload.size() + 4 + 7) / 8 * 8 - 4;
    const auto size = static_cast<uint32_t>(padded);
    ring_.put_record(PERF_RECORD_SAMPLE, native_words({1, 2, 3, 4, 5}) +
                                             std::string(reinterpret_cast<const char*>(&size), 4) +
                                             payload + std::string(padded - payload.size(), '\0'));
  }
  bool dumped_all() const { return dumped_ >= trace_.size(); }
  // The page-aligned room of a ring that never fills completely, up to the ring's end.
  size_t chunk() {
    const size_t free = (ring_.aux_room() - 1) / kPage * kPage;
    return std::min<size_t>(free, kAuxBytes - ring_.page().aux_head % kAuxBytes);
  }

  PlainRing ring_{64 << 10, kAuxBytes};
  std::string trace_;
  size_t dumped_ = 0;
  size_t next_block_ = 0;

 private:
  std::optional<EventValue> read() {
    CHECK(ring_.empty());
    clock_ += 10;
    EventValue value;
    value.value = deliver();
    value.enabled_ns = value.running_ns = clock_;
    return value;
  }

  uint64_t clock_ = 0;
};

// Each dump fills the AUX ring. The map follows in this ring, one block for each read, with its
// last piece padded with existing bytes. The end is a sample with the number of dumps.
class FirstDriver : public PublicDriver {
 public:
  using PublicDriver::PublicDriver;
  bool marker = true;
  uint32_t dumps_told_less = 0;

 private:
  uint64_t deliver() override {
    if (!dumped_all()) {
      put_trace(kAuxBytes);
      dumps_++;
      return 1;
    }
    if (next_block_ < blocks.size()) {
      std::string piece = blocks[next_block_++];
      if (next_block_ == blocks.size()) piece += std::string(kPage - piece.size(), 's');
      put_aux(piece);
      return 1;
    }
    if (std::exchange(marker, false)) {
      const uint32_t told = dumps_ - dumps_told_less;
      put_sample(std::string(reinterpret_cast<const char*>(&told), sizeof(told)));
    }
    return 0;
  }

  uint32_t dumps_ = 0;
};

// Delivers chunks of the size of the ring's room. The map arrives as samples, all in the read that
// finds the end. The value is 1, or counts the delivered bytes.
class MiddleDriver : public PublicDriver {
 public:
  MiddleDriver(size_t trace_bytes, bool counts) : PublicDriver(trace_bytes), counts_(counts) {}
  bool repeats = false;  // repeats a throttled sample as if it were not written

 private:
  uint64_t deliver() override {
    if (!dumped_all()) {
      const size_t size = chunk();
      put_trace(size);
      return counts_ ? size / 128 : 1;
    }
    if (std::exchange(map_sent_, true)) return 0;
    for (const std::string& block : blocks) {
      put_sample(block);
      if (repeats) put_sample(block);
    }
    return counts_ ? blocks.back().size() / 32 : 1;
  }

  bool counts_;
  bool map_sent_ = false;
};

// Delivers one block of the map in each read. The first block arrives in the read that finds the
// trace's end. Some reads deliver nothing.
class LatestDriver : public PublicDriver {
 public:
  using PublicDriver::PublicDriver;

 private:
  uint64_t deliver() override {
    if (++reads_ % 3 == 0 && next_block_ < blocks.size()) return 1;
    if (!dumped_all()) {
      const size_t size = std::min(chunk(), trace_.size() - dumped_);
      put_trace(size);
      return size / 128;
    }
    if (next_block_ == blocks.size()) return 0;
    put_sample(blocks[next_block_++]);
    return blocks[0].size() / 32;
  }

  int reads_ = 0;
};

void check_whole(const PublicDriver& driver, size_t trace_bytes) {
  std::string expected = driver.trace();
  expected.resize(trace_bytes, '\0');
  CHECK((driver.trace_read == expected));
  CHECK((driver.map_read == joined(driver.blocks)));
  CHECK(driver.losses.empty());
}

}  // namespace

TEST_CASE("the first public driver: whole rings, then the map, then an end marker") {
  FirstDriver driver(2 * kAuxBytes + 100);
  CHECK(driver.run() == HtmDrain::Driver::kFirst);
  check_whole(driver, 3 * kAuxBytes);
  CHECK(driver.trace_proof == Proof::kProven);
}

TEST_CASE("the first public driver without its marker proves nothing") {
  FirstDriver driver(kAuxBytes);
  driver.marker = false;
  CHECK(driver.run() == HtmDrain::Driver::kFirst);
  check_whole(driver, kAuxBytes);
  CHECK(driver.trace_proof == Proof::kNotProvable);
}

TEST_CASE("a wrong count in the first public driver's marker is reported") {
  FirstDriver driver(2 * kAuxBytes);
  driver.dumps_told_less = static_cast<uint32_t>(-1);  // claims one more than was delivered
  driver.run();
  CHECK(driver.trace_proof == Proof::kViolated);
  REQUIRE(driver.losses.size() == 1);
  CHECK(driver.losses[0].amount == kAuxBytes);
}

TEST_CASE("invalid blocks after the first public driver's trace are not read as the map") {
  FirstDriver driver(kAuxBytes);
  driver.blocks = {std::string(64, '\x7f')};
  driver.run();
  CHECK(driver.map_read.empty());
  REQUIRE(!driver.losses.empty());
  CHECK(driver.losses[0].amount == kPage);
}

TEST_CASE("the second and the third public driver: the whole map with one read") {
  for (const bool counts : {false, true}) {
    for (const bool repeats : {false, true}) {
      CAPTURE(counts);
      CAPTURE(repeats);
      MiddleDriver driver(5 * kPage + 300, counts);
      driver.repeats = repeats;
      CHECK(driver.run() == (counts ? HtmDrain::Driver::kThird : HtmDrain::Driver::kSecond));
      check_whole(driver, driver.trace_read.size());
      CHECK(driver.trace_read.size() >= driver.trace().size());
      CHECK(driver.trace_read.size() % kPage == 0);
      CHECK(driver.trace_proof == Proof::kNotProvable);
    }
  }
}

TEST_CASE("the latest public driver: a block in each read, and 'again'") {
  LatestDriver driver(9 * kPage + 256);
  CHECK(driver.run() == HtmDrain::Driver::kLatest);
  check_whole(driver, driver.trace().size());
  CHECK(driver.trace_proof == Proof::kNotProvable);
}

TEST_CASE("a map of one block does not distinguish the third driver from the latest") {
  MiddleDriver driver(kPage, true);
  driver.blocks.erase(driver.blocks.begin(), driver.blocks.end() - 1);
  CHECK(driver.run() == HtmDrain::Driver::kThirdOrLatest);
  check_whole(driver, driver.trace_read.size());
}

TEST_CASE("a driver that delivers nothing is not named") {
  LatestDriver driver(0);
  driver.blocks.clear();
  CHECK(driver.run() == HtmDrain::Driver::kUnknown);
}

}  // namespace htmtrace
