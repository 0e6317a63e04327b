// SPDX-License-Identifier: GPL-2.0-or-later
// Statistics of a decoded nest trace. Each byte counts in exactly one of the members that
// accounted_bytes() adds up. All members are uint64_t or arrays of it (core/base/add_counts.h).
#pragma once

#include <array>
#include <cstdint>

#include "core/core_trace/stamp.h"
#include "core/nest_trace/words.h"

namespace htmtrace::nest {

struct Statistics {
  uint64_t bytes = 0;
  uint64_t commands = 0;
  uint64_t response_records = 0;
  uint64_t stamp_records = 0;
  uint64_t filler_records = 0;
  uint64_t unknown_records = 0;  // type 00 without the tag of a stamp
  uint64_t loose_bytes = 0;
  uint64_t accounted_bytes() const {
    return (commands + response_records + stamp_records + filler_records + unknown_records) *
               kRecordBytes +
           loose_bytes;
  }

  uint64_t unnamed_commands = 0;   // unknown ttype and secondary encoding
  uint64_t responses = 0;          // in response records and in commands
  uint64_t matched_responses = 0;  // responses with a known command
  // Matched responses with several open commands. The oldest command got the response.
  uint64_t ambiguous_responses = 0;
  uint64_t unnamed_responses = 0;  // matched, but unknown in the command's class
  uint64_t translated = 0;         // commands whose address belongs to the partition
  uint64_t untranslated = 0;

  std::array<uint64_t, kStampKinds> stamps{};
  uint64_t timers = 0;               // stamps with a timer
  uint64_t timer_disagreements = 0;  // the timer differs from the sum of the elapsed ticks

  // Losses that the hardware reports.
  uint64_t records_dropped = 0;
  uint64_t record_counter_overflows = 0;
  uint64_t markers_dropped = 0;
  uint64_t responses_dropped = 0;
  uint64_t triggers_dropped = 0;
  uint64_t trace_full = 0;
  uint64_t elapsed_overflows = 0;
  uint64_t loss_stamps = 0;

  uint64_t defect_count() const { return unknown_records + (loose_bytes != 0 ? 1 : 0); }
  bool incomplete() const { return loss_stamps != 0 || defect_count() != 0; }

  void add(const Stamp& stamp);
  void add(const Statistics& other);
  bool operator==(const Statistics&) const = default;
};

}  // namespace htmtrace::nest
