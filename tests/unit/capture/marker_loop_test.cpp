// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/locate/marker_loop.h"

#include <doctest/doctest.h>
#include <sched.h>

#include <chrono>
#include <random>
#include <thread>

#include "cli/affinity.h"
#include "tests/unit/message_of.h"

using namespace htmtrace;

namespace {

Marker a_marker() {
  std::mt19937 random(1);
  return make_markers(1, [&] { return static_cast<uint32_t>(random()); }).front();
}

}  // namespace

TEST_CASE("a marker runs on the processors for which its code is, and nowhere else") {
  const Marker marker = a_marker();
  const int cpu = ::sched_getcpu();
  if (!MarkerLoop::supported()) {
    CHECK(message_of([&] { const MarkerLoop loop(cpu, marker); }) ==
          "cannot run a marker: this program is not for 64-bit little-endian POWER");
    return;
  }
  MarkerLoop loop(cpu, marker);
  CHECK(is_bound_to(loop.thread(), cpu));
  const uint64_t before = loop.rounds();
  CHECK(before != 0);
  while (loop.rounds() == before) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  loop.stop();
  const uint64_t after = loop.rounds();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  CHECK(loop.rounds() == after);
  CHECK(message_of([&] { const MarkerLoop none(1 << 15, marker); }) ==
        "cannot run on cpu 32768: Invalid argument");
}
