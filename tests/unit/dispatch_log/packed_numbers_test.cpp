// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/base/packed_numbers.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "tests/unit/rounds.h"

namespace htmtrace {
namespace {

using Numbers = std::vector<uint64_t>;
using Packed = std::vector<std::byte>;

Packed repeated(const Numbers& numbers) {
  Packed packed;
  pack_repeated(numbers, packed);
  return packed;
}

// Reads this number of repeated numbers, and checks that no bytes remain.
Numbers read_repeated(const Packed& packed, size_t count) {
  Numbers numbers(count);
  NumberReader reader(packed);
  reader.repeated(numbers);
  CHECK(reader.ok());
  CHECK(reader.at_end());
  return numbers;
}

Packed bytes(std::initializer_list<unsigned> of) {
  Packed packed;
  for (const unsigned byte : of) packed.push_back(static_cast<std::byte>(byte));
  return packed;
}

}  // namespace

TEST_CASE("numbers that rarely change take little more than a bit") {
  std::mt19937_64 random(1);
  Numbers numbers(4096);
  uint64_t now = 0;
  for (uint64_t& number : numbers) {
    if (random() % 16 == 0) now = random() % 64;
    number = now;
  }
  const Packed packed = repeated(numbers);
  CHECK(packed.size() < 4096 / 8 + 4096 / 16 + 100);
  CHECK(read_repeated(packed, numbers.size()) == numbers);
}

// Numbers that suit one of the forms of pack_repeated().
Numbers numbers_for(unsigned form, size_t count, std::mt19937_64& random) {
  Numbers numbers(count);
  uint64_t now = 0;
  for (uint64_t& number : numbers) {
    if (random() % 16 == 0) now = random();
    switch (form) {
      case 0:  // plain
        number = random() % 4096;
        break;
      case 1:  // a list of distinct numbers
        number = 0xc000000000001234 + random() % 5 * 0x100004000;
        break;
      case 2:  // equal upper bits
        number = 0xc000000000000000 + random() % 3 * 0x12340000 + random() % 65536;
        break;
      default:  // runs
        number = now;
    }
  }
  return numbers;
}

TEST_CASE("a hint never makes a column wrong, and not much longer if its numbers change often") {
  std::mt19937_64 random(3);
  RepeatedHint hint;
  unsigned form = 0;
  size_t with_hint = 0, shortest = 0;
  for (int round = 0; round < 400; round++) {
    if (random() % 8 == 0) form = random() % 4;
    const Numbers numbers = numbers_for(form, 1 + random() % 4096, random);
    Packed packed;
    pack_repeated(numbers, packed, &hint);
    CHECK(read_repeated(packed, numbers.size()) == numbers);
    with_hint += packed.size();
    shortest += repeated(numbers).size();
  }
  CHECK(with_hint <= shortest + shortest / 5);
}

TEST_CASE("the hint of a column that does not change gives the shortest form") {
  for (unsigned form = 0; form < 4; form++) {
    std::mt19937_64 random(form);
    RepeatedHint hint;
    for (int round = 0; round < 40; round++) {
      const Numbers numbers = numbers_for(form, 4096, random);
      Packed packed;
      pack_repeated(numbers, packed, &hint);
      CHECK(packed == repeated(numbers));
    }
  }
}

TEST_CASE("low bits that are zero in all numbers take no room") {
  std::mt19937_64 random(2);
  for (const unsigned zeros : {0U, 1U, 2U, 3U, 5U, 12U, 13U, 60U}) {
    for (const uint64_t least : {uint64_t{0}, uint64_t{7}}) {
      Numbers numbers(4000);
      for (uint64_t& number : numbers) number = (random() % 4096 << zeros) + least;
      Packed packed;
      pack_numbers(numbers, packed);
      Numbers read(numbers.size());
      NumberReader reader(packed);
      reader.numbers(read);
      CHECK(reader.ok());
      CHECK(read == numbers);
      if (zeros == 2 || zeros == 3 || zeros == 12) CHECK(packed.size() < 4000 * 12 / 8 + 16);
    }
  }
}

// Recordings from before runs and zero bits have this form.
TEST_CASE("columns of an earlier form are read") {
  // Each has 4 bits, a minimum of one byte, and one rest of one byte: 5 + {1, 2, 3 + (2 << 4)}.
  Numbers numbers(3);
  const Packed plain = bytes({4, 0x11, 1, 0, 5, 0x21, 0x03, 2, 0, 2});
  NumberReader reader(plain);
  reader.numbers(numbers);
  CHECK(reader.ok());
  CHECK(reader.at_end());
  CHECK(numbers == Numbers{6, 7, 40});
  // Two different numbers, 9 and 4, in the sequence second, first, second.
  CHECK(read_repeated(bytes({2, 0, 3, 0x10, 0, 0, 4, 0x05, 1, 0, 0, 0, 0x05}), 3) ==
        Numbers{4, 9, 4});
}

TEST_CASE("truncated or invalid runs are rejected") {
  Numbers numbers(1000);
  for (size_t i = 0; i < numbers.size(); i++) numbers[i] = i / 50 * 7;
  const Packed packed = repeated(numbers);
  REQUIRE(packed[0] == std::byte{0xfe});
  for (size_t length = 0; length < packed.size(); length++) {
    Numbers read(numbers.size());
    const std::span<const std::byte> whole = packed;
    NumberReader reader(whole.first(length));
    reader.repeated(read);
    CHECK_FALSE(reader.ok());
  }
  // The list of different numbers is another list of runs.
  Packed nested = bytes({0xfe, 0xff, 1, 0, 0, 0, 0x01, 0xfe, 0xff});
  nested.resize(100);
  Numbers read(1);
  NumberReader reader(nested);
  reader.repeated(read);
  CHECK_FALSE(reader.ok());
}

TEST_CASE("any numbers survive packing, in the shortest form") {
  std::mt19937_64 random(3);
  for (unsigned round = 0; round < rounds(400); round++) {
    CAPTURE(round);
    // Numbers of some width, with a few wider numbers and zero low bits, and more often equal than
    // not.
    const uint64_t width = random() % 65, wider = random() % 65, zeros = random() % 20;
    const uint64_t least = random() >> random() % 64, change = random() % 40 + 1;
    Numbers numbers(round % 20 == 0 ? 4096 : random() % 200);
    uint64_t now = 0;
    for (uint64_t& number : numbers) {
      const uint64_t bits = random() % 50 == 0 ? wider : width;
      if (random() % change == 0) now = bits == 0 ? 0 : random() >> (64 - bits);
      number = (now << zeros) + least;
    }
    Packed plain;
    pack_numbers(numbers, plain);
    Numbers read(numbers.size());
    NumberReader reader(plain);
    reader.numbers(read);
    CHECK(reader.ok());
    CHECK(reader.at_end());
    CHECK(read == numbers);
    const Packed packed = repeated(numbers);
    CHECK(packed.size() <= 2 + plain.size());
    CHECK(read_repeated(packed, numbers.size()) == numbers);
  }
}

}  // namespace htmtrace
