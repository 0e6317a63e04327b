// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/dispatches/metrics.h"

#include <fmt/core.h>

#include <string>
#include <system_error>
#include <utility>

#include "cli/messages.h"
#include "core/base/error.h"
#include "output/io/new_file.h"

namespace htmtrace {

// Opening a FIFO would wait for its reader.
void check_metrics_file(const std::filesystem::path& file) {
  std::error_code failure;
  const auto kind = std::filesystem::status(file, failure).type();
  using enum std::filesystem::file_type;
  if (kind == regular || kind == not_found || kind == none) return;
  throw Error("cannot write metrics to " + file.string() + ": it is not a regular file")
      .hint("choose another file with --metrics");
}

void write_metrics(const std::filesystem::path& file, const DtlMetrics& metrics,
                   DtlHistogramLimit& limit) {
  check_metrics_file(file);
  const std::string text = metrics.to_text(limit);
  NewFile written = NewFile::create(file, Existing::kReplace);
  written.write(text);
  if (const int reason = written.finish(); reason != 0) {
    throw Error("cannot write " + file.string(), reason);
  }
}

void warn_of_limit(const std::filesystem::path& file, const DtlHistogramLimit& limit) {
  if (limit.aggregated() == 0) return;
  constexpr size_t kMost = DtlHistogramLimit::kWaits * DtlHistogramLimit::kMostPairs;
  print_warning(fmt::format("{}: the file has {} histograms of single CPUs, which is the limit; "
                            "the waits of {} further histograms count in cpu=\"other\"",
                            file.string(), kMost, limit.aggregated()),
                "select CPUs with --cpu");
}

DtlMetrics DtlReplayMetrics::metrics(DtlMetrics::About about) const {
  DtlMetrics metrics{.about = std::move(about), .distances = bits_.has_value()};
  for (const auto& [cpu, counted] : cpus_) {
    metrics.cpus.push_back({.cpu = cpu, .counts = counted.counts()});
  }
  return metrics;
}

}  // namespace htmtrace
