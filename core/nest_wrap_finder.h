// SPDX-License-Identifier: GPL-2.0-or-later
// Where one engine's part of a nest trace begins in a buffer that was written round and round and
// dumped from its first byte: behind the COMPLETE stamp that the newest end has left, or where its
// timer goes back. htm-nest-trace(5), FRAMING.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/nest_words.h"

namespace htmtrace::nest {

// Takes all records of the engine in the order of the dump. Filler stands for nothing.
class WrapFinder {
 public:
  // Whole records; `offset` is that of the first in the dump.
  void take(std::span<const std::byte> records, uint64_t offset);

  // Enough is known to say that the engine's part did not wrap.
  bool settled() const { return starts_with_record_; }

  // The offset of the oldest record; nothing when the dump has its order, or does not tell where it
  // begins (several places could be it). Between the timers before and behind the newest end only a
  // COMPLETE stamp tells the place; without one it is that of the stamp with the first old timer.
  std::optional<uint64_t> oldest() const;

 private:
  void take_stamp(const Record& record, uint64_t offset);
  void hear(uint64_t timer, uint64_t place);

  bool any_ = false;                 // record
  bool starts_with_record_ = false;  // tracing began at the begin of the buffer
  bool behind_complete_ = false;     // nothing since the last COMPLETE
  uint64_t found_ = 0;
  unsigned places_ = 0;  // COMPLETE stamps with something else than a new start behind them
  std::optional<uint64_t> first_timer_;
  uint64_t timer_ = 0;      // the last one
  uint64_t went_back_ = 0;  // where it did
  unsigned steps_back_ = 0;
};

}  // namespace htmtrace::nest
