// SPDX-License-Identifier: GPL-2.0-or-later
// Options with the largest numbers, on a small trace.
#include <string>

#include "core/base/spread.h"
#include "tests/bombs/bomb.h"
#include "tests/encoder/power10.h"

namespace htmtrace::bombs {
namespace {

// Instructions far apart in address and time.
void put_scattered_trace(unsigned) {
  File file("htm.bin.n0.p0.c0");
  file.be64(power10_record(0));
  for (uint64_t line = 0; line < 20'000; line++) {
    const uint64_t address = 0xc000000000000000 + (line * 0x9e3779b97f4a7c15 >> 8 & ~uint64_t{127});
    put_line(file, address);
    put_instruction(file, address, kSystem);
    file.be64(power10_complete(0xfff'ffff));
  }
}

// Blocks whose addresses had the same slot in a hash table that only multiplied: the products by
// 2^64 divided by the golden ratio have equal upper halves.
void put_colliding_trace(unsigned) {
  constexpr uint64_t kInverseOfFactor = 0xf1de83e19937733d;
  static_assert(spread(kInverseOfFactor) == 1);
  File file("htm.bin.n0.p0.c0");
  file.be64(power10_record(0));
  for (uint64_t line = 0; line < 100'000; line++) {
    const uint64_t address = 128 * line * kInverseOfFactor;
    put_line(file, address);
    put_instruction(file, address, kSystem);
  }
}

}  // namespace

std::vector<Bomb> option_bombs() {
  using enum Outcome;
  const auto report = [](std::vector<std::string> options) {
    options.insert(options.begin(), "report");
    options.emplace_back(".");
    return options;
  };
  return {
      {"report-top", kEither, put_scattered_trace, report({"--top", "4294967295"})},
      {"report-entries", kEither, put_scattered_trace, report({"--entries", "268435456"})},
      {"heat-map-rows", kEither, put_scattered_trace,
       report({"--heat-map", "--address", "real", "--top", "4294967295", "--format", "json"})},
      {"timeline", kEither, put_scattered_trace, report({"--timeline", "--top", "4294967295"})},
      {"stacks", kRead, put_scattered_trace, report({"--stacks"})},
      {"blocks", kRead, put_scattered_trace, report({"--blocks", "--top", "4294967295"})},
      {"bbv",
       kEither,
       put_scattered_trace,
       {"decode", "--format", "bbv", "--interval", "1", "-o", "vectors", "."}},
      {"bbv-collisions",
       kRead,
       put_colliding_trace,
       {"decode", "-q", "--format", "bbv", "-o", "vectors", "."}},
      {"last", kRead, put_scattered_trace, {"decode", "-q", "--last", "18446744073709551615", "."}},
  };
}

}  // namespace htmtrace::bombs
