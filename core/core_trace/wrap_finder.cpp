// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/core_trace/wrap_finder.h"

#include "core/base/big_endian.h"
#include "core/core_trace/words.h"

namespace htmtrace {
namespace {

constexpr unsigned kRecordStamp = 0;
constexpr unsigned kCompleteStamp = 1;

bool is_record(uint64_t word) {
  return words::is_stamp(word) && words::stamp_type(word) == kRecordStamp;
}

// Bits 24-35 must be clear. An INFO that looks like a stamp has bits 34-35 set.
bool is_complete(uint64_t word) {
  return words::is_stamp(word) && words::stamp_type(word) == kCompleteStamp &&
         words::bits(word, 24, 35) == 0;
}

}  // namespace

void WrapFinder::take(std::span<const std::byte> piece) {
  const size_t end = piece.size() - piece.size() % words::kWordBytes;
  for (size_t at = 0; at < end; at += words::kWordBytes) {
    // The loop skips almost all words of a trace.
    if (offset_ > words::kWordBytes && !behind_complete_) {
      const size_t from = at;
      while (at < end && !is_complete(load_be64(piece.data() + at))) at += words::kWordBytes;
      offset_ += at - from;
      if (at == end) return;
    }
    take_word(load_be64(piece.data() + at));
    if (starts_with_record_) return;
  }
}

void WrapFinder::take_word(uint64_t word) {
  // The first stamp may be the second half of a 16-byte entry.
  if (offset_ <= words::kWordBytes && is_record(word)) starts_with_record_ = true;
  offset_ += words::kWordBytes;
  if (is_complete(word)) {
    behind_complete_ = true;
    end_ = offset_;
  } else if (behind_complete_ && !words::is_filler(word) && !words::is_companion(word)) {
    behind_complete_ = false;
    if (is_record(word)) return;  // tracing stopped and started again
    found_ = end_;
    places_++;
  }
}

std::optional<uint64_t> WrapFinder::oldest() const {
  if (starts_with_record_ || places_ != 1) return std::nullopt;
  return found_;
}

}  // namespace htmtrace
