// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/core_trace/stamp.h"

#include "core/base/big_endian.h"
#include "core/core_trace/words.h"

namespace htmtrace {
namespace {

StampKind kind_of(unsigned type) {
  if (type >= 8) return StampKind::kTime;
  switch (type) {
    case 0:
      return StampKind::kRecord;
    case 1:
      return StampKind::kComplete;
    case 2:
      return StampKind::kPause;
    case 3:
      return StampKind::kMark;
    case 4:
      return StampKind::kSync;
    default:
      return StampKind::kUndefined;
  }
}

Mark parse_mark(uint64_t word, Generation generation) {
  if (generation == Generation::kPower8) {
    return {words::mark8_node(word), words::mark8_chip(word), words::mark8_unit(word),
            words::mark8_value(word)};
  }
  return {words::mark_group(word), words::mark_chip(word), words::mark_unit(word),
          words::mark_value(word)};
}

// The documented indicators are 80, 90, a0, b0 and 88, 84, 82. They look like a code in the upper
// digit and flags in the lower digit. The parser accepts all combinations, because an unfamiliar
// report of a loss is still a loss.
StampLosses parse_time(uint64_t word) {
  const unsigned indicator = words::time_indicator(word);
  const unsigned code = indicator >> 4;
  StampLosses losses;
  losses.records = words::time_dropped(word);
  losses.marker = code == 0x9;
  losses.records_overflow = code == 0xa;
  losses.elapsed_overflow = code == 0xb;
  losses.response = (indicator & 8) != 0;
  losses.trigger = (indicator & 4) != 0;
  losses.trace_full = (indicator & 2) != 0;
  losses.unknown = code > 0xb || (indicator & 1) != 0;
  return losses;
}

}  // namespace

Stamp parse_stamp(uint64_t word, Generation generation) {
  Stamp stamp;
  stamp.word = word;
  stamp.kind = kind_of(words::stamp_type(word));
  switch (stamp.kind) {
    case StampKind::kRecord:
      stamp.counter = words::record_counter(word);
      break;
    case StampKind::kComplete:
    case StampKind::kPause:
      stamp.elapsed = words::elapsed_ticks(word);
      break;
    case StampKind::kMark:
      stamp.mark = parse_mark(word, generation);
      stamp.losses.marker = words::mark_dropped(word);
      break;
    case StampKind::kTime:
      stamp.elapsed = words::elapsed_ticks(word);
      stamp.losses = parse_time(word);
      break;
    case StampKind::kSync:
    case StampKind::kUndefined:
      break;
  }
  return stamp;
}

bool reports_full(std::span<const std::byte> bytes) {
  for (; bytes.size() >= words::kWordBytes; bytes = bytes.subspan(words::kWordBytes)) {
    const uint64_t word = load_be64(bytes.data());
    if (words::is_stamp(word) && parse_stamp(word, Generation::kPower10).losses.trace_full)
      return true;
  }
  return false;
}

const char* stamp_kind_name(StampKind kind) {
  switch (kind) {
    case StampKind::kRecord:
      return "record";
    case StampKind::kComplete:
      return "complete";
    case StampKind::kPause:
      return "pause";
    case StampKind::kMark:
      return "mark";
    case StampKind::kSync:
      return "sync";
    case StampKind::kTime:
      return "time";
    case StampKind::kUndefined:
      break;
  }
  return "undefined";
}

}  // namespace htmtrace
