// SPDX-License-Identifier: GPL-2.0-or-later
// Stamps: words in which the trace hardware reports its own state (time, starts and stops, markers,
// and dropped records). htm-core-trace(5), STAMPS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace htmtrace {

enum class StampKind : uint8_t { kRecord, kComplete, kPause, kMark, kSync, kTime, kUndefined };
inline constexpr unsigned kStampKinds = 7;

// The writer of a MARK stamp, which determines the layout.
enum class Generation : uint8_t { kPower8, kPower10 };

struct Mark {
  unsigned group = 0;  // POWER8 calls its three bits the node
  unsigned chip = 0;
  unsigned unit = 0;
  unsigned value = 0;
};

// The drops and overflows that a TIME or MARK stamp reports.
struct StampLosses {
  unsigned records = 0;  // dropped; a lower bound if records_overflow is set
  bool records_overflow = false;
  bool marker = false;
  bool response = false;  // a combined-response record; known only from nest traces
  bool trigger = false;
  bool trace_full = false;
  bool elapsed_overflow = false;  // only the time overflowed; no record is lost
  bool unknown = false;           // an indication without a known meaning

  // The hardware dropped part of the trace.
  bool any() const {
    return records != 0 || records_overflow || marker || response || trigger || trace_full;
  }
};

struct Stamp {
  uint64_t offset = 0;  // offset of its first byte in the trace
  uint64_t word = 0;
  StampKind kind = StampKind::kUndefined;
  unsigned counter = 0;                     // RECORD
  uint32_t elapsed = 0;                     // COMPLETE, PAUSE, TIME: ticks of unknown length
  Mark mark;                                // MARK
  StampLosses losses;                       // TIME, MARK
  std::optional<uint64_t> companion_timer;  // of the preceding companion word, if any
};

// `word` must be a stamp (words::is_stamp).
Stamp parse_stamp(uint64_t word, Generation generation);

// Returns true if a stamp in these aligned words of a trace reports that the trace memory was full.
// Core and nest traces have the same stamps.
bool reports_full(std::span<const std::byte> bytes);

// "record", "complete", "pause", "mark", "sync", "time", "undefined".
const char* stamp_kind_name(StampKind kind);

}  // namespace htmtrace
