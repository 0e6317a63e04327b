// SPDX-License-Identifier: GPL-2.0-or-later
// Exports dispatch trace logs as a timeline for Perfetto (ui.perfetto.dev) and chrome://tracing, in
// the JSON trace event format ("Trace Event Format", the Chromium project). Each virtual processor
// has a track that shows where it runs and for what it waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "core/dispatch_log/entry.h"
#include "output/io/json_writer.h"

namespace htmtrace {

class DtlTimeline {
 public:
  // Viewers cannot load larger files.
  static constexpr uint64_t kMostBytes = 1'000'000'000;

  // The clock must have a known frequency.
  explicit DtlTimeline(const DtlClock& clock);

  // Both functions append to `to`, which the caller writes to a file and clears. add() requires the
  // entries of each CPU in time order.
  void add(int cpu, std::span<const DtlEntry> entries, std::string& to);
  void end(std::string& to);

  // Entries older than their predecessor, which have no position on their track.
  uint64_t left_out() const { return left_out_; }

 private:
  void put_run(int cpu, const DtlEntry& dispatch, uint64_t stopped);
  void put_wait(int cpu, uint64_t stopped, const DtlEntry& dispatch);
  void begin_slice(int cpu, uint64_t from, uint64_t until, std::string_view name);

  JsonWriter json_{JsonWriter::Layout::kCompact};
  DtlClock clock_;
  std::map<int, DtlEntry> last_;  // the last entry of each CPU
  uint64_t left_out_ = 0;
};

}  // namespace htmtrace
