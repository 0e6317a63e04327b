// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/core_trace/stamp.h"

#include <doctest/doctest.h>

#include "core/core_trace/words.h"
#include "output/print/text_printer.h"
#include "tests/encoder/power10.h"
#include "tests/encoder/power8.h"

namespace htmtrace {
namespace {

StampLosses losses_of(enum power10_time indicator, uint8_t dropped = 0) {
  return parse_stamp(power10_time(indicator, dropped, 5), Generation::kPower10).losses;
}

}  // namespace

TEST_CASE("each kind of stamp has its fields") {
  CHECK(parse_stamp(power10_record(200), Generation::kPower10).counter == 200);
  const Stamp complete = parse_stamp(power10_complete(0xfffffff), Generation::kPower10);
  CHECK(complete.kind == StampKind::kComplete);
  CHECK(complete.elapsed == 0xfffffff);
  CHECK(parse_stamp(power10_pause(3), Generation::kPower10).kind == StampKind::kPause);
  CHECK(parse_stamp(power10_sync(), Generation::kPower10).kind == StampKind::kSync);
  CHECK(parse_stamp(0xaceff70000000000, Generation::kPower10).kind == StampKind::kUndefined);
}

TEST_CASE("words that begin like a stamp, or like the word ahead of a stamp, are no stamps") {
  for (uint64_t top = 0; top <= 0xfffff; top++) {
    for (const uint64_t rest : {uint64_t{0}, uint64_t{0x8}, uint64_t{0x0abcdf00000}}) {
      const uint64_t word = top << 44 | rest;
      if (words::is_stamp_or_companion(word) ==
          (words::is_stamp(word) || words::is_companion(word)))
        continue;
      FAIL(word);
    }
  }
}

TEST_CASE("a mark in the layouts of both generations") {
  const Stamp ten = parse_stamp(power10_mark(9, 5, 0x2aa, 0x987, false), Generation::kPower10);
  CHECK(ten.mark.group == 9);
  CHECK(ten.mark.chip == 5);
  CHECK(ten.mark.unit == 0x2aa);
  CHECK(ten.mark.value == 0x987);
  CHECK_FALSE(ten.losses.any());
  const Stamp eight = parse_stamp(power8_mark(5, 2, 0xaa, 0x987), Generation::kPower8);
  CHECK(eight.mark.group == 5);
  CHECK(eight.mark.chip == 2);
  CHECK(eight.mark.unit == 0xaa);
  CHECK(eight.mark.value == 0x987);
  const Stamp dropped = parse_stamp(power10_mark(0, 0, 0, 0, true), Generation::kPower10);
  CHECK(dropped.losses.marker);
}

TEST_CASE("TIME stamps report losses") {
  CHECK_FALSE(losses_of(kPower10TimeElapsed).any());
  CHECK(losses_of(kPower10TimeTraceFull).trace_full);
  CHECK(losses_of(kPower10TimeTriggerDropped).trigger);
  CHECK(losses_of(kPower10TimeResponseDropped).response);
  CHECK(losses_of(kPower10TimeMarkerDropped).marker);
  CHECK(losses_of(kPower10TimeRecordsDropped, 200).records == 200);
  CHECK(losses_of(kPower10TimeRecordsDropped).records_overflow);
  // Only the elapsed time overflowed; no trace is lost.
  CHECK(losses_of(kPower10TimeElapsedOverflow).elapsed_overflow);
  CHECK_FALSE(losses_of(kPower10TimeElapsedOverflow).any());
}

TEST_CASE("unknown combinations of indications are reported") {
  CHECK(losses_of(static_cast<enum power10_time>(0x9a)).marker);
  CHECK(losses_of(static_cast<enum power10_time>(0x9a)).response);
  CHECK(losses_of(static_cast<enum power10_time>(0x9a)).trace_full);
  CHECK(losses_of(kPower10TimeElapsed, 3).any());
  CHECK(losses_of(static_cast<enum power10_time>(0xf0)).unknown);
  CHECK(losses_of(static_cast<enum power10_time>(0x81)).unknown);
}

TEST_CASE("a stamp is printed as one line") {
  const Stamp stamp =
      parse_stamp(power10_time(kPower10TimeRecordsDropped, 3, 9), Generation::kPower10);
  CHECK(
      stamp_line(stamp) ==
      "stamp kind=time word=aceffa0030000009 elapsed=9 records_dropped=3 record_counter_overflow");
}

}  // namespace htmtrace
