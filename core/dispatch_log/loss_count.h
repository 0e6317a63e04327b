// SPDX-License-Identifier: GPL-2.0-or-later
// Counts the lost entries of one CPU while the recording runs, by the hypervisor's index of the
// log. DtlProof gives the verdict at the end.
//
// Entries arrive in log order. When an entry arrives that is later than a reading of the index, all
// entries that precede the reading have arrived or are lost. Without such an entry, the missing
// entries can still arrive, so they do not count as lost.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "core/dispatch_log/entry.h"

namespace htmtrace {

class DtlLossCount {
 public:
  // Counts captured entries, in log order.
  void take(std::span<const DtlEntry> entries) {
    if (!reading_ || later_) {
      taken_ += entries.size();
      return;
    }
    for (const DtlEntry& entry : entries) {
      later_ |= entry.timebase > reading_->end;
      if (!later_) reading_->taken++;
      taken_++;
    }
  }

  // Adds a reading of the index: its value was `written` at a moment before the timebase `end`. The
  // entries of all earlier calls of take() are older than `end`. Has no effect while the preceding
  // reading waits for a later entry.
  void add_reading(uint64_t written, uint64_t end) {
    if (reading_ && !later_) return;
    settle();
    reading_ = Reading{.end = end, .written = written, .taken = taken_};
    later_ = false;
  }

  // Returns a lower bound of the number of lost entries. The bound never decreases.
  uint64_t lost() {
    if (later_) settle();
    return lost_;
  }

 private:
  struct Reading {
    uint64_t end = 0;  // timebase
    uint64_t written = 0;
    uint64_t taken = 0;  // captured entries up to and including `end`
  };

  void settle() {
    if (!reading_) return;
    lost_ = std::max(lost_, reading_->written - std::min(reading_->written, reading_->taken));
  }

  std::optional<Reading> reading_;
  bool later_ = false;  // an entry later than `reading_` has arrived
  uint64_t taken_ = 0;
  uint64_t lost_ = 0;
};

}  // namespace htmtrace
