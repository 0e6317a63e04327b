// SPDX-License-Identifier: GPL-2.0-or-later
// Stamps: the words in which the trace hardware speaks of itself (time, starts and stops, markers,
// and what it had to drop). htm-core-trace(5), STAMPS.
#pragma once

#include <cstdint>
#include <optional>

namespace htmtrace {

enum class StampKind : uint8_t { kRecord, kComplete, kPause, kMark, kSync, kTime, kUndefined };
inline constexpr unsigned kStampKinds = 7;

// Who wrote a MARK stamp: its layout differs.
enum class Generation : uint8_t { kPower8, kPower10 };

struct Mark {
  unsigned group = 0;  // POWER10; POWER8 calls its three bits the node
  unsigned chip = 0;
  unsigned unit = 0;
  unsigned value = 0;
};

// What a TIME stamp (or a MARK) says was dropped or overflowed.
struct StampLosses {
  unsigned records = 0;  // dropped; at least so many when records_overflow is set
  bool records_overflow = false;
  bool marker = false;
  bool response = false;  // a combined-response record; nest only as far as is known
  bool trigger = false;
  bool trace_full = false;
  bool elapsed_overflow = false;  // of the time only: nothing was dropped
  bool unknown = false;           // an indication without a known meaning

  // Something that should be in the trace is not.
  bool any() const {
    return records != 0 || records_overflow || marker || response || trigger || trace_full;
  }
};

struct Stamp {
  uint64_t offset = 0;  // of its first byte in the trace
  uint64_t word = 0;
  StampKind kind = StampKind::kUndefined;
  unsigned counter = 0;                     // RECORD
  uint32_t elapsed = 0;                     // COMPLETE, PAUSE, TIME: ticks of unknown length
  Mark mark;                                // MARK
  StampLosses losses;                       // TIME, MARK
  std::optional<uint64_t> companion_timer;  // of the word before, where there was one
};

// `word` must be a stamp (words::is_stamp).
Stamp parse_stamp(uint64_t word, Generation generation);

// "record", "complete", "pause", "mark", "sync", "time", "undefined".
const char* stamp_kind_name(StampKind kind);

}  // namespace htmtrace
