// SPDX-License-Identifier: GPL-2.0-or-later
// Checks the completeness of a CPU's entries against the hypervisor's own count.
//
// The hypervisor's index of the log is the number of entries that it has written. htmtrace reads
// the index while new entries arrive, at a moment between two readings of the timebase. The index
// may or may not include entries from that interval, so only a reading without an entry in its
// interval is exact.
//
// A virtual processor has one dispatch at a time, but its last entry may already have its time
// while the index does not include it yet. Such a reading shows one loss too few. htmtrace
// therefore reads the index several times, and the reading that shows the largest loss counts. This
// hides a loss only if an entry is being written, or arrives, at each reading after the loss.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/dispatch_log/entry.h"

namespace htmtrace {

struct DtlShortfall {
  uint64_t least = 0;
  uint64_t most = 0;
  bool too_many = false;  // captured entries outnumber the written entries
};

class DtlProof {
 public:
  // Counts one captured entry. Entries arrive in log order.
  void take(uint64_t timebase) {
    taken_++;
    for (Reading& reading : readings_) {
      if (timebase <= reading.begin) reading.until_begin++;
      if (timebase <= reading.end) reading.until_end++;
    }
  }

  void take(std::span<const DtlEntry> entries) {
    if (readings_.empty()) {
      taken_ += entries.size();
    } else {
      for (const DtlEntry& entry : entries) take(entry.timebase);
    }
  }

  // The index was `written` at a moment between `begin` and `end`. All earlier calls of take()
  // passed older entries.
  void add_reading(uint64_t begin, uint64_t written, uint64_t end) {
    readings_.push_back({begin, end, written, taken_, taken_});
  }

  uint64_t taken() const { return taken_; }

  // Empty if no reading of the index succeeded.
  std::optional<DtlShortfall> shortfall() const {
    if (readings_.empty()) return std::nullopt;
    DtlShortfall result{.too_many = true};
    bool exact = false;
    for (const Reading& each : readings_) {
      result.least = std::max(result.least, each.written - std::min(each.written, each.until_end));
      result.most = std::max(result.most, each.written - std::min(each.written, each.until_begin));
      exact |= each.until_begin == each.until_end;
      // The last entry may be in writing.
      if (each.until_begin <= each.written + 1) result.too_many = false;
    }
    if (exact) result.most = result.least;
    return result;
  }

 private:
  struct Reading {
    uint64_t begin = 0, end = 0;  // timebases
    uint64_t written = 0;
    uint64_t until_begin = 0, until_end = 0;  // captured entries up to and including these times
  };

  uint64_t taken_ = 0;
  std::vector<Reading> readings_;
};

// The dispatch counter increases by two with each dispatch. Returns the number of dispatches
// between two readings.
inline uint64_t dispatches_between(uint32_t counter_begin, uint32_t counter_end) {
  return (static_cast<uint64_t>(counter_end - counter_begin) + 1) / 2;
}

// Compares dispatches with the entries that were logged in the same interval. The counter and the
// index are not read at the same instant.
inline bool dispatches_agree(uint64_t dispatches, uint64_t entries) {
  constexpr uint64_t kReadApart = 2;
  const uint64_t difference = dispatches > entries ? dispatches - entries : entries - dispatches;
  return difference <= kReadApart;
}

}  // namespace htmtrace
