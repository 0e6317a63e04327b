// SPDX-License-Identifier: GPL-2.0-or-later
// What the decoders of a nest trace saw. Every byte is counted in one of the places that
// accounted_bytes() adds up.
#pragma once

#include <array>
#include <cstdint>

#include "core/nest_words.h"
#include "core/stamp.h"

namespace htmtrace::nest {

struct Statistics {
  uint64_t bytes = 0;
  uint64_t commands = 0;
  uint64_t response_records = 0;
  uint64_t stamp_records = 0;
  uint64_t filler_records = 0;
  uint64_t unknown_records = 0;  // type 00 without a stamp's tag
  uint64_t loose_bytes = 0;
  uint64_t accounted_bytes() const {
    return (commands + response_records + stamp_records + filler_records + unknown_records) *
               kRecordBytes +
           loose_bytes;
  }

  uint64_t unnamed_commands = 0;   // ttype and secondary encoding that no command has
  uint64_t responses = 0;          // in records of their own and in commands
  uint64_t matched_responses = 0;  // their command is known
  // Matched responses for which several commands were open; the oldest command got the response.
  uint64_t ambiguous_responses = 0;
  uint64_t unnamed_responses = 0;  // matched, but the command's class has no such code
  uint64_t translated = 0;         // commands with an address that is the partition's
  uint64_t untranslated = 0;

  std::array<uint64_t, kStampKinds> stamps{};
  uint64_t timers = 0;               // stamps with a timer
  uint64_t timer_disagreements = 0;  // it is not what the ticks before add up to

  // Losses: the hardware says that it dropped these.
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
