// SPDX-License-Identifier: GPL-2.0-or-later
// How complete a CPU's entries are, judged by what the hypervisor counts itself.
//
// The hypervisor's index of the log is the number of entries that it has written. It is read while
// entries go on coming, at a moment of which only is known that it lies between two readings of the
// timebase; entries from between them may or may not be in the index. So it is read several times:
// one reading with nothing in between makes the number exact.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/dtl_entry.h"

namespace htmtrace {

struct DtlShortfall {
  uint64_t least = 0;
  uint64_t most = 0;
  bool too_many = false;  // more was captured than was ever written
};

class DtlProof {
 public:
  // One captured entry, in the order in which they come.
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

  // The index said `written` between `begin` and `end`. All entries taken so far are older.
  void add_reading(uint64_t begin, uint64_t written, uint64_t end) {
    readings_.push_back({begin, end, written, taken_, taken_});
  }

  bool has_readings() const { return !readings_.empty(); }
  uint64_t last_written() const { return readings_.back().written; }
  uint64_t taken() const { return taken_; }

  // Nothing when the index could not be read.
  std::optional<DtlShortfall> shortfall() const {
    if (readings_.empty()) return std::nullopt;
    DtlShortfall result{.least = 0, .most = UINT64_MAX, .too_many = true};
    for (const Reading& each : readings_) {
      result.least = std::max(result.least, each.written - std::min(each.written, each.until_end));
      result.most = std::min(result.most, each.written - std::min(each.written, each.until_begin));
      // A virtual processor has one dispatch at a time: one entry may have its time already and not
      // yet its place in the index.
      if (each.until_begin <= each.written + 1) result.too_many = false;
    }
    result.most = std::max(result.most, result.least);
    return result;
  }

 private:
  struct Reading {
    uint64_t begin = 0, end = 0;  // timebase
    uint64_t written = 0;
    uint64_t until_begin = 0, until_end = 0;  // captured entries up to these, both included
  };

  uint64_t taken_ = 0;
  std::vector<Reading> readings_;
};

// The dispatch counter goes up by two with each dispatch: how many there were between two readings.
inline uint64_t dispatches_between(uint32_t counter_begin, uint32_t counter_end) {
  return (static_cast<uint64_t>(counter_end - counter_begin) + 1) / 2;
}

// `entries` were logged meanwhile. Counter and index were not read at the same instant.
inline bool dispatches_agree(uint64_t dispatches, uint64_t entries) {
  constexpr uint64_t kReadApart = 2;
  const uint64_t difference = dispatches > entries ? dispatches - entries : entries - dispatches;
  return difference <= kReadApart;
}

}  // namespace htmtrace
