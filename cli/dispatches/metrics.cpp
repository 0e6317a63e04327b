// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/dispatches/metrics.h"

#include <string>
#include <utility>

#include "core/base/error.h"
#include "output/io/new_file.h"

namespace htmtrace {

void write_metrics(const std::filesystem::path& file, const DtlMetrics& metrics) {
  const std::string text = metrics.to_text();
  NewFile written = NewFile::create(file, Existing::kReplace);
  if (written.is_stream()) {
    throw Error("cannot write metrics to " + file.string() + ": it is not a regular file");
  }
  written.write(text);
  if (const int reason = written.finish(); reason != 0) {
    throw Error("cannot write " + file.string(), reason);
  }
}

DtlMetrics DtlReplayMetrics::metrics(DtlMetrics::About about) const {
  DtlMetrics metrics{.about = std::move(about), .distances = bits_.has_value()};
  for (const auto& [cpu, counted] : cpus_) {
    metrics.cpus.push_back({.cpu = cpu, .counts = counted.counts()});
  }
  return metrics;
}

}  // namespace htmtrace
