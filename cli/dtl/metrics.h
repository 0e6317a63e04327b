// SPDX-License-Identifier: GPL-2.0-or-later
// The file of --metrics during a recording: its content, and the times of its writes.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "cli/dispatches/metrics.h"
#include "core/dispatch_log/entry.h"
#include "core/dispatch_log/loss_count.h"
#include "core/dispatch_log/metrics.h"
#include "core/dispatch_log/processor_bits.h"

namespace htmtrace {

struct DtlMetricsOptions {
  std::filesystem::path file;  // empty: no metrics
  std::chrono::nanoseconds interval{std::chrono::seconds(15)};
};

// --metrics and --metrics-interval
void declare_dtl_metrics(CLI::App& app, DtlMetricsOptions& options);
// Throws CLI::ValidationError for an option of `dtl` that excludes --metrics, or has no effect with
// it. `file_format` is the format of the file that -o names, or null.
void check_dtl_metrics(const CLI::App& dtl, const DtlMetricsOptions& options,
                       const char* file_format);

// Writes the file at each interval. A failed attempt does not end the recording.
class DtlMetricsWriter {
 public:
  // One virtual processor. Only one thread at a time may use it.
  class Track {
   public:
    explicit Track(std::optional<ProcessorBits> bits) : counts_(bits) {}

    void add(std::span<const DtlEntry> entries, const DtlClock& clock) {
      counts_.add(entries, clock.ticks_per_second);
      losses_.take(entries);
    }
    const DtlCpuCounts& counts() const { return counts_.counts(); }
    DtlLossCount& losses() { return losses_; }

   private:
    DtlCpuMetrics counts_;
    DtlLossCount losses_;
  };

  DtlMetricsWriter(const DtlMetricsOptions& options, DtlMetrics::About about);

  // Writes the file for the first time, before the recording. Throws Error.
  void begin(DtlMetrics metrics) { put(std::move(metrics), false); }

  // The interval has passed, or nothing was written since the recording began.
  bool due() const { return Clock::now() >= next_; }

  // Adds the recorder's state to `metrics`, and writes them. Returns the reason of a failure. The
  // next successful call then writes the counts.
  std::optional<std::string> write(DtlMetrics metrics, bool running);

  const std::filesystem::path& file() const { return options_.file; }
  // The last attempt failed.
  bool failing() const { return failing_; }
  const DtlHistogramLimit& limit() const { return limit_; }

 private:
  using Clock = std::chrono::steady_clock;

  void put(DtlMetrics metrics, bool running);

  DtlMetricsOptions options_;
  DtlMetrics::About about_;
  int64_t start_ns_;
  Clock::time_point next_ = Clock::now();
  DtlHistogramLimit limit_;
  uint64_t errors_ = 0;
  bool failing_ = false;
};

}  // namespace htmtrace
