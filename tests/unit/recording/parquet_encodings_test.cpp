// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the encodings of Parquet's pages by the examples of Encodings.md, and by decoding.
#include "output/export/parquet_encodings.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "output/export/thrift_writer.h"

namespace htmtrace::parquet {
namespace {

std::string hex(const Bytes& bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text += kDigits[value >> 4];
    text += kDigits[value & 15];
  }
  return text;
}

std::string deltas_of(const std::vector<uint64_t>& values) {
  Bytes bytes;
  put_deltas(values, bytes);
  return hex(bytes);
}

class Reader {
 public:
  explicit Reader(const Bytes& bytes) : bytes_(bytes) {}
  uint64_t byte() { return static_cast<unsigned char>(bytes_.at(at_++)); }
  uint64_t number() {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const uint64_t next = byte();
      value |= (next & 0x7f) << shift;
      if (next < 0x80) return value;
    }
  }
  uint64_t zigzag() {
    const uint64_t value = number();
    return value >> 1 ^ (0 - (value & 1));
  }
  bool at_end() const { return at_ == bytes_.size(); }

 private:
  const Bytes& bytes_;
  size_t at_ = 0;
};

std::vector<uint64_t> decoded(const Bytes& bytes) {
  Reader reader(bytes);
  const uint64_t block = reader.number(), parts = reader.number(), count = reader.number();
  std::vector<uint64_t> values = {reader.zigzag()};
  while (values.size() < count) {
    const uint64_t least = reader.zigzag();
    std::vector<uint64_t> widths;
    for (uint64_t i = 0; i < parts; i++) widths.push_back(reader.byte());
    for (const uint64_t width : widths) {
      if (values.size() >= count) break;
      uint64_t bits = 0, have = 0;
      for (uint64_t i = 0; i < block / parts; i++) {
        uint64_t value = 0;
        for (uint64_t bit = 0; bit < width; bit++, bits >>= 1, have--) {
          if (have == 0) {
            bits = reader.byte();
            have = 8;
          }
          value |= (bits & 1) << bit;
        }
        values.push_back(values.back() + least + value);
      }
      CHECK(have == 0);
    }
  }
  CHECK(reader.at_end());
  values.resize(count);
  return values;
}

}  // namespace

TEST_CASE("differences: a constant step takes no bits, and a few values one miniblock") {
  // Block of 128 values, 4 miniblocks, 5 values, first value 1, step 1, widths 0.
  CHECK(deltas_of({1, 2, 3, 4, 5}) == "80010405020200000000");
  // Encodings.md, "Delta encoding", example 2: differences -2, -2, -2, 1, 1, 1, 1; least -2;
  // distances 0, 0, 0, 3, 3, 3, 3 of two bits, here in a miniblock of 32.
  const std::string packed = deltas_of({7, 5, 3, 1, 2, 3, 4, 5});
  CHECK(packed == "800104080e0302000000c03f000000000000");
}

TEST_CASE("differences: each width, and values that wrap around") {
  std::mt19937_64 random(1);
  for (unsigned width = 0; width <= 64; width++) {
    for (const size_t count : {1, 2, 33, 129, 130, 300}) {
      CAPTURE(width);
      CAPTURE(count);
      std::vector<uint64_t> values;
      uint64_t value = random();
      for (size_t i = 0; i < count; i++) {
        values.push_back(value);
        value += width == 0 ? 4 : random() >> (64 - width);
      }
      Bytes bytes;
      put_deltas(values, bytes);
      CHECK(decoded(bytes) == values);
    }
  }
}

TEST_CASE("runs: a constant, and packed groups of eight") {
  const auto runs = [](std::vector<uint8_t> values, unsigned width) {
    Bytes bytes;
    put_runs(values, width, bytes);
    return hex(bytes);
  };
  CHECK(runs({}, 1).empty());
  CHECK(runs({1, 1, 1}, 1) == "0601");
  CHECK(runs(std::vector<uint8_t>(100, 2), 2) == "c80102");
  // One group; the lowest bit first.
  CHECK(runs({1, 0, 1, 1, 0, 0, 0, 0}, 1) == "030d");
  CHECK(runs({2, 1, 0, 2, 1}, 2) ==
        "03"
        "8601");
  Bytes bytes;
  put_runs(std::vector<uint16_t>{1, 0x102}, 16, bytes);
  CHECK(hex(bytes) ==
        "03"
        "01000201"
        "000000000000000000000000");
}

TEST_CASE("dictionaries hold each value once, and refuse values that are nearly all distinct") {
  Dictionary dictionary;
  REQUIRE(dictionary.build(std::vector<uint64_t>{7, 9, 7, 7, ~uint64_t{0}}));
  CHECK(std::vector(dictionary.entries().begin(), dictionary.entries().end()) ==
        std::vector<uint64_t>{7, 9, ~uint64_t{0}});
  CHECK(std::vector(dictionary.indices().begin(), dictionary.indices().end()) ==
        std::vector<uint16_t>{0, 1, 0, 0, 2});
  std::vector<uint64_t> many(Dictionary::kMostEntries);
  for (size_t i = 0; i < many.size(); i++) many[i] = i;
  CHECK_FALSE(dictionary.build(many));
  // Each value twice: not refused early, and all entries fit.
  std::vector<uint64_t> twice(2 * Dictionary::kMostEntries);
  for (size_t i = 0; i < twice.size(); i++) twice[i] = i / 2;
  CHECK(dictionary.build(twice));
  CHECK(dictionary.indices().back() == Dictionary::kMostEntries - 1);
  twice.push_back(~uint64_t{0});
  CHECK_FALSE(dictionary.build(twice));
}

TEST_CASE("Thrift: fields, lists and structures in the compact protocol") {
  Bytes bytes;
  ThriftWriter writer(bytes);
  writer.structure([&] {
    writer.i32(1, -1);
    writer.i64(3, 64);
    writer.text(20, "ab");
    writer.list(21, ThriftWriter::Type::kStruct, 1);
    writer.structure([&] { writer.i32(2, 1); });
    writer.list(22, ThriftWriter::Type::kI32, 16);
    for (int i = 0; i < 16; i++) writer.i32(0);
    writer.structure(23, [] {});
  });
  CHECK(hex(bytes) ==
        "1501"
        "268001"
        "0828026162"
        "191c"
        "250200"
        "19f510" +
            std::string(32, '0') +
            "1c00"
            "00");
}

}  // namespace htmtrace::parquet
