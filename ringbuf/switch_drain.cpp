// SPDX-License-Identifier: GPL-2.0-or-later
#include "ringbuf/switch_drain.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "ringbuf/records.h"

namespace htmtrace {
namespace {

// The trailer that sample_type TID|TIME|CPU appends to each record
// (include/uapi/linux/perf_event.h).
constexpr size_t kTrailerBytes = 24;
constexpr size_t kTrailerTime = 8;
constexpr size_t kTaskBytes = 8;
// Offsets in a FORK: pid, ppid, tid, ptid.
constexpr size_t kForkBytes = 16;

// At least the length of the longest record plus the record that reports a loss. If this much space
// is free, no record was lost.
constexpr size_t kLongestRecord = 256;

uint32_t word_of(std::span<const std::byte> from, size_t at) {
  uint32_t value = 0;
  std::memcpy(&value, from.data() + at, sizeof(value));
  return value;
}

DtlTask task_of(std::span<const std::byte> from) {
  return {.pid = word_of(from, 0), .tid = word_of(from, sizeof(uint32_t))};
}

}  // namespace

void SwitchDrain::look() {
  size_t taken = 0;
  const uint64_t skipped = ring_.drain([&](const Record& record) {
    taken += sizeof(perf_event_header) + record.body.size();
    take(record);
  });
  if (skipped != 0) {
    sinks_.loss({"switch ring", "invalid records", LossUnit::kBytes, skipped});
  }
  // The kernel writes the LOST record only together with the next record that fits.
  if (skipped != 0 || taken + kLongestRecord > ring_bytes_) track_.lost();
}

void SwitchDrain::take(const Record& record) {
  switch (record.type) {
    case PERF_RECORD_SWITCH_CPU_WIDE:
      return take_switch(record);
    case PERF_RECORD_COMM:
      return take_name(record);
    case PERF_RECORD_FORK:
      if (record.body.size() < kForkBytes) return;
      return sinks_.forked({.pid = word_of(record.body, 0), .tid = word_of(record.body, 8)},
                           {.pid = word_of(record.body, 4), .tid = word_of(record.body, 12)});
    case PERF_RECORD_LOST:
      sinks_.loss({"switch ring", "no room for context switches", LossUnit::kRecords,
                   parse_lost(record.body).value_or(0)});
      return track_.lost();
    default:
      return;
  }
}

// The kernel writes a record when a task leaves and another record when the next task arrives; both
// records name both tasks.
void SwitchDrain::take_switch(const Record& record) {
  if (record.body.size() < kTaskBytes + kTrailerBytes) return;
  const auto trailer = record.body.last(kTrailerBytes);
  const DtlTask other = task_of(record.body), own = task_of(trailer);
  uint64_t ns = 0;
  std::memcpy(&ns, trailer.data() + kTrailerTime, sizeof(ns));
  if ((record.misc & PERF_RECORD_MISC_SWITCH_OUT) != 0) {
    track_.switched(ns, own, other);
  } else {
    track_.switched(ns, other, own);
  }
}

void SwitchDrain::take_name(const Record& record) {
  if (record.body.size() < kTaskBytes + kTrailerBytes) return;
  const auto text =
      record.body.subspan(kTaskBytes, record.body.size() - kTaskBytes - kTrailerBytes);
  const auto end = std::ranges::find(text, std::byte{0});
  sinks_.named(task_of(record.body), {reinterpret_cast<const char*>(text.data()),
                                      static_cast<size_t>(end - text.begin())});
}

}  // namespace htmtrace
