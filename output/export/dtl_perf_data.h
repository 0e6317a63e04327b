// SPDX-License-Identifier: GPL-2.0-or-later
// Writes dispatch trace logs as perf.data files that an unmodified perf shows completely. Layouts:
// tools/perf/Documentation/perf.data-file-format.txt and enum perf_event_type of Linux. perf's
// decoder of the AUX data: tools/perf/util/powerpc-vpadtl.c (Linux 7.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/dispatch_log/entry.h"

namespace htmtrace {

// Generates the bytes of a file from begin to end. The caller passes all entries twice: first to
// compute the sizes at the start of the file, then to write the entries.
class DtlPerfData {
 public:
  struct About {
    std::string event;       // "all", "cede", "preempt", "fault"
    uint64_t period_ns = 0;  // period of the driver
    DtlClock clock;          // must have a known frequency
    std::string kernel;      // kernel release; empty: unknown
  };

  // The first pass. Requires the entries of each CPU in time order, up to kMostDtlEntries at once.
  void announce(int cpu, std::span<const DtlEntry> entries);

  // The second pass. begin() writes the start of the file, then follow the same entries, then the
  // end of the file. All functions append to `to`, which the caller writes to the file and clears.
  void begin(const About& about, std::vector<std::byte>& to);
  void add(int cpu, std::span<const DtlEntry> entries, std::vector<std::byte>& to);
  void end(std::vector<std::byte>& to) const;

  // Entries that perf shows incorrectly, because its tables end below the code of their reason.
  uint64_t strange_reasons() const { return strange_reasons_; }

 private:
  struct Cpu {
    uint32_t index = 0;     // perf's queue
    uint64_t position = 0;  // running position in the AUX data
    bool begun = false;     // the first slot, which holds the clock, is written
  };

  uint64_t id(const Cpu& cpu) const { return cpu.index + 1; }
  std::vector<std::byte> attribute() const;
  std::vector<std::byte> records_before() const;
  std::vector<std::byte> record_behind() const;
  std::vector<std::vector<std::byte>> features() const;

  About about_;
  std::map<int, Cpu> cpus_;
  uint64_t chunks_ = 0;
  uint64_t chunk_bytes_ = 0;    // including their records
  uint64_t last_timebase_ = 0;  // the highest
  uint64_t strange_reasons_ = 0;
  uint64_t data_begin_ = 0, data_bytes_ = 0;
  uint64_t offset_ = 0;            // of the next chunk's record
  std::vector<uint64_t> offsets_;  // of the preceding chunks' records
};

}  // namespace htmtrace
