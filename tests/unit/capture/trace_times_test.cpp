// SPDX-License-Identifier: GPL-2.0-or-later
// Tests when the traces of a schedule begin and end.
#include "cli/record/trace_times.h"

#include <doctest/doctest.h>

#include <chrono>

namespace htmtrace {
namespace {

using namespace std::chrono_literals;

constexpr TraceTimes::Clock::time_point kStart{1000s};

}  // namespace

TEST_CASE("without options, one trace has no time limit") {
  const Schedule schedule;
  TraceTimes times(schedule);
  times.note_begin(kStart);
  CHECK_FALSE(times.end());
  CHECK_FALSE(times.next_begin());
  CHECK(times.another(kStart));  // after a snapshot
  times.note_complete();
  CHECK_FALSE(times.another(kStart));
}

TEST_CASE("a snapshot does not delay the end of the recording") {
  Schedule schedule;
  schedule.duration = 10s;
  TraceTimes times(schedule);
  times.note_begin(kStart);
  CHECK(times.end() == kStart + 10s);
  times.note_end(kStart + 3s);
  times.note_begin(kStart + 4s);
  CHECK(times.end() == kStart + 10s);
  times.note_end(kStart + 10s);
  CHECK(times.traced() == 9s);
}

TEST_CASE("each window has its own time limit and its own begin") {
  Schedule schedule;
  schedule.duration = 2s;
  schedule.windows = 2;
  schedule.every = 5s;
  TraceTimes times(schedule);
  times.note_begin(kStart);
  CHECK(times.end() == kStart + 2s);
  CHECK(times.next_begin() == kStart + 5s);
  times.note_complete();
  CHECK(times.another(kStart + 2s));
  times.note_begin(kStart + 5s);
  CHECK(times.end() == kStart + 7s);
  times.note_complete();
  CHECK_FALSE(times.another(kStart + 7s));
}

TEST_CASE("traces rotate until the recording ends") {
  Schedule schedule;
  schedule.duration = 5s;
  schedule.rotate = 3s;
  TraceTimes times(schedule);
  times.note_begin(kStart);
  CHECK(times.end() == kStart + 3s);
  times.note_complete();
  CHECK(times.another(kStart + 3s));
  times.note_begin(kStart + 4s);
  CHECK(times.end() == kStart + 5s);
  times.note_complete();
  CHECK_FALSE(times.another(kStart + 5s));
}

}  // namespace htmtrace
