// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/nest_trace/wrap_finder.h"

#include "core/core_trace/stamp.h"

namespace htmtrace::nest {
namespace {

// Compares 36-bit timers, which wrap to zero. The shorter distance decides the order.
bool is_earlier(uint64_t timer, uint64_t than) {
  return ((timer - than) >> (kTimerBits - 1) & 1) != 0;
}

}  // namespace

void WrapFinder::take(std::span<const std::byte> records, uint64_t offset) {
  for (size_t at = 0; at + kRecordBytes <= records.size(); at += kRecordBytes) {
    const Record record = record_at(records.data() + at);
    const bool stamp = is_stamp(record);
    // The loop skips almost all records of a trace.
    if (any_ && !stamp && !behind_complete_) continue;
    if (is_filler(record)) continue;
    if (stamp) {
      take_stamp(record, offset + at);
      if (starts_with_record_) return;
    } else if (behind_complete_) {
      behind_complete_ = false;
      found_ = offset + at;
      places_++;
    }
    any_ = true;
  }
}

void WrapFinder::take_stamp(const Record& record, uint64_t offset) {
  const StampKind kind = parse_stamp(record.low, Generation::kPower10).kind;
  if (!any_ && kind == StampKind::kRecord) starts_with_record_ = true;
  if (has_timer(record)) {
    hear(words::companion_timer(record.high), offset);
  }
  // After the newest end, the rest of an older record follows. A RECORD stamp may also mark a new
  // start.
  if (behind_complete_ && kind != StampKind::kRecord && kind != StampKind::kComplete) {
    found_ = offset;
    places_++;
  }
  behind_complete_ = kind == StampKind::kComplete;
}

void WrapFinder::hear(uint64_t timer, uint64_t place) {
  if (!first_timer_) {
    first_timer_ = timer;
  } else if (is_earlier(timer, timer_)) {
    went_back_ = place;
    steps_back_++;
  }
  timer_ = timer;
}

std::optional<uint64_t> WrapFinder::oldest() const {
  if (starts_with_record_) return std::nullopt;
  if (places_ == 1) return found_;
  // In a wrapped buffer, the trace continues from the last byte to the first byte.
  const bool round = steps_back_ == 1 && !is_earlier(*first_timer_, timer_);
  if (places_ != 0 || behind_complete_ || !round) return std::nullopt;
  return went_back_;
}

}  // namespace htmtrace::nest
