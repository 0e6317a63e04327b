// SPDX-License-Identifier: GPL-2.0-or-later
// Dispatch trace logs as perf.data files that stock perf shows completely. Layouts:
// tools/perf/Documentation/perf.data-file-format.txt and enum perf_event_type of Linux; what perf
// makes of the AUX data: tools/perf/util/powerpc-vpadtl.c (Linux 7.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/dtl_entry.h"

namespace htmtrace {

// Makes the bytes of a file from its beginning to its end. What comes is told twice: first all of
// it, for the file begins with sizes, then once more to be written.
class DtlPerfData {
 public:
  struct About {
    std::string event;       // "all", "cede", "preempt", "fault"
    uint64_t period_ns = 0;  // of the driver
    DtlClock clock;          // its frequency must be known
    std::string kernel;      // release; empty: unknown
  };

  // The first round. Entries of one CPU come in the order of their time, up to kMostDtlEntries at
  // once.
  void announce(int cpu, std::span<const DtlEntry> entries);

  // Then appends to `to`, which the caller empties into the file: what comes before the entries;
  // the entries, told as before; what comes behind them.
  void begin(const About& about, std::vector<std::byte>& to);
  void add(int cpu, std::span<const DtlEntry> entries, std::vector<std::byte>& to);
  void end(std::vector<std::byte>& to) const;

  // Entries that perf cannot show rightly: its tables end before their reason's code.
  uint64_t strange_reasons() const { return strange_reasons_; }

 private:
  struct Cpu {
    uint32_t index = 0;     // perf's queue
    uint64_t position = 0;  // running, in the AUX data
    bool begun = false;     // the first slot, with the clock, is written
  };

  uint64_t id(const Cpu& cpu) const { return cpu.index + 1; }
  std::vector<std::byte> attribute() const;
  std::vector<std::byte> records_before() const;
  std::vector<std::byte> record_behind() const;
  std::vector<std::vector<std::byte>> features() const;

  About about_;
  std::map<int, Cpu> cpus_;
  uint64_t chunks_ = 0;
  uint64_t chunk_bytes_ = 0;    // with their records
  uint64_t last_timebase_ = 0;  // the highest
  uint64_t strange_reasons_ = 0;
  uint64_t data_begin_ = 0, data_bytes_ = 0;
  uint64_t offset_ = 0;            // of the next chunk's record
  std::vector<uint64_t> offsets_;  // of those before
};

}  // namespace htmtrace
