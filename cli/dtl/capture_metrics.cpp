// SPDX-License-Identifier: GPL-2.0-or-later
// The metrics of a recording of the dispatch trace log.
#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "cli/dtl/capture.h"
#include "cli/messages.h"
#include "core/base/timebase.h"

namespace htmtrace {

// Writes the file for the first time, so that a file that cannot be written is an error before the
// recording. The threads do not run yet.
void DtlCapture::open_metrics() {
  for (const auto& cpu : cpus_) {
    cpu->metrics = std::make_unique<DtlMetricsWriter::Track>(options_.output.bits);
  }
  metrics_.emplace(
      options_.metrics,
      DtlMetrics::About{.version = HTMTRACE_VERSION,
                        .partition = host_.partition_id ? std::to_string(*host_.partition_id) : "",
                        .kernel = host_.kernel_release,
                        .driver = driver_ == DtlDrain::Driver::kOwn ? "htmtrace" : "kernel",
                        .event = options_.event});
  metrics_->begin(collect_metrics(false));
}

// Copies the counts of each CPU while its thread waits.
DtlMetrics DtlCapture::collect_metrics(bool running) {
  DtlMetrics metrics{.distances = options_.output.bits.has_value()};
  for (const auto& cpu : cpus_) {
    const std::lock_guard held(cpu->group->lock);
    const auto counters = cpu->area.read();
    DtlLossCount& losses = cpu->metrics->losses();
    if (counters && running) losses.add_reading(counters->log_index, timebase_now());
    uint64_t lost = std::max(losses.lost(), cpu->drain.totals().announced_entries);
    // The shortfall is known only after the recording. It may be an upper bound.
    if (const auto shortfall = cpu->intake.proof().shortfall(); shortfall && !shortfall->too_many) {
      lost = std::max(lost, shortfall->most);
    }
    metrics.cpus.push_back(
        {.cpu = cpu->source.cpu(),
         .counts = cpu->metrics->counts(),
         .capture = DtlMetrics::Capture{.recording = running && !cpu->drain.ended() && !cpu->off,
                                        .loss_provable = counters.has_value(),
                                        .lost = lost,
                                        .signs = cpu->drain.totals()}});
  }
  return metrics;
}

void DtlCapture::update_metrics() {
  if (!metrics_ || !metrics_->due()) return;
  const bool failed_before = metrics_->failing();
  const bool limited_before = metrics_->limit().aggregated() != 0;
  const auto failure = metrics_->write(collect_metrics(true), true);
  if (!limited_before && metrics_->limit().aggregated() != 0) {
    progress_.clear();
    warn_of_limit(metrics_->file(), metrics_->limit());
  }
  if (failure.has_value() == failed_before) return;
  progress_.clear();
  if (failure) {
    print_warning(*failure + "; the recording continues, and htmtrace tries again at each interval",
                  "free some disk space, or make the folder writable");
  } else {
    print_note("writes metrics to " + metrics_->file().string() + " again");
  }
}

// Writes the metrics of all dispatches. Returns a loss if the file cannot be written.
std::optional<Loss> DtlCapture::finish_metrics() {
  if (!metrics_) return std::nullopt;
  const auto failure = metrics_->write(collect_metrics(false), false);
  warn_of_limit(metrics_->file(), metrics_->limit());  // with the final number of histograms
  if (!failure) return std::nullopt;
  return Loss{metrics_->file().string(), "the last metrics are not written: " + *failure};
}

}  // namespace htmtrace
