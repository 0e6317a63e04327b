// SPDX-License-Identifier: GPL-2.0-or-later
// The file of --metrics, and the metrics of a whole recording.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>

#include "core/dispatch_log/entry.h"
#include "core/dispatch_log/metrics.h"
#include "core/dispatch_log/processor_bits.h"
#include "output/export/dtl_metrics.h"

namespace htmtrace {

// Throws Error if the path is a device, a FIFO, a socket or a folder. A missing file is no error.
void check_metrics_file(const std::filesystem::path& file);

// Replaces the file as a whole, so that no reader sees a part of it. Until then, the new file has
// no name, or a hidden name that ends in ".new". Throws Error.
void write_metrics(const std::filesystem::path& file, const DtlMetrics& metrics,
                   DtlHistogramLimit& limit);

// Warns if the limit has aggregated histograms.
void warn_of_limit(const std::filesystem::path& file, const DtlHistogramLimit& limit);

// Collects the metrics of a recording.
class DtlReplayMetrics {
 public:
  explicit DtlReplayMetrics(std::optional<ProcessorBits> bits) : bits_(bits) {}

  // Adds entries in time order.
  void add(int cpu, std::span<const DtlEntry> entries, const DtlClock& clock) {
    cpus_.try_emplace(cpu, bits_).first->second.add(entries, clock.ticks_per_second);
  }

  DtlMetrics metrics(DtlMetrics::About about) const;

 private:
  std::optional<ProcessorBits> bits_;
  std::map<int, DtlCpuMetrics> cpus_;
};

}  // namespace htmtrace
