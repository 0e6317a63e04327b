// SPDX-License-Identifier: GPL-2.0-or-later
// Dispatch trace logs as a timeline for Perfetto (ui.perfetto.dev) and chrome://tracing, in the
// JSON trace event format ("Trace Event Format", the Chromium project): a track for each virtual
// processor, on which it runs somewhere, or waits for something.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "core/dtl_entry.h"

namespace htmtrace {

class DtlTimeline {
 public:
  // More than this no viewer loads.
  static constexpr uint64_t kMostBytes = 1'000'000'000;

  // Its frequency must be known.
  explicit DtlTimeline(const DtlClock& clock) : clock_(clock) {}

  // All append to `to`, which the caller empties into a file: what comes before the entries; those
  // of one CPU in the order of their time; what comes behind them.
  void begin(std::string& to) const;
  void add(int cpu, std::span<const DtlEntry> entries, std::string& to);
  void end(std::string& to) const;

  // Entries that are older than the one before: they have no place on their track.
  uint64_t left_out() const { return left_out_; }

 private:
  void put_run(int cpu, const DtlEntry& dispatch, uint64_t stopped, std::string& to) const;
  void put_wait(int cpu, uint64_t stopped, const DtlEntry& dispatch, std::string& to) const;
  void put_slice(int cpu, uint64_t from, uint64_t until, std::string_view name,
                 std::string& to) const;

  DtlClock clock_;
  std::map<int, DtlEntry> last_;  // of each CPU
  uint64_t left_out_ = 0;
};

}  // namespace htmtrace
