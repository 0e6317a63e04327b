// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the start of one engine's part of a nest trace in a dumped buffer that wrapped. The part
// starts after the COMPLETE stamp at its newest end, or at the point where its timer decreases.
// htm-nest-trace(5), FRAMING.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/nest_trace/words.h"

namespace htmtrace::nest {

// Reads all records of the engine in the order of the dump. Ignores filler.
class WrapFinder {
 public:
  // Accepts whole records; `offset` is the offset of the first record in the dump.
  void take(std::span<const std::byte> records, uint64_t offset);

  // The records so far prove that the engine's part did not wrap.
  bool settled() const { return starts_with_record_; }

  // The offset of the oldest record. Empty if the dump is in order or has several candidates.
  // Between the timers around the newest end, only a COMPLETE stamp marks the exact offset. Without
  // a COMPLETE stamp, the result is the stamp with the first old timer.
  std::optional<uint64_t> oldest() const;

 private:
  void take_stamp(const Record& record, uint64_t offset);
  void hear(uint64_t timer, uint64_t place);

  bool any_ = false;                 // the finder has seen a record
  bool starts_with_record_ = false;  // tracing began at the start of the buffer
  bool behind_complete_ = false;     // no record since the last COMPLETE
  uint64_t found_ = 0;
  unsigned places_ = 0;  // COMPLETE stamps that no new start follows
  std::optional<uint64_t> first_timer_;
  uint64_t timer_ = 0;      // the last timer
  uint64_t went_back_ = 0;  // offset where the timer decreased
  unsigned steps_back_ = 0;
};

}  // namespace htmtrace::nest
