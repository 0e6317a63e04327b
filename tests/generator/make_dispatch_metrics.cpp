// SPDX-License-Identifier: GPL-2.0-or-later
// make_dispatch_metrics: prints all metrics that `htmtrace dtl --metrics` writes while it records.
#include <cstdio>
#include <string>

#include "output/export/dtl_metrics.h"
#include "tests/generator/plausible_dispatches.h"

using namespace htmtrace;

int main() {
  constexpr uint64_t kHz = 512'000'000;
  constexpr int kCpus = 2, kEntries = 10'000;
  DtlMetrics metrics{
      .about = {.version = "1", .partition = "3", .kernel = "6\xff\"\\\n", .driver = "kernel"},
      .distances = true,
      .recorder = DtlMetrics::Recorder{.running = true, .start_ns = 1'000'000'000}};
  for (int cpu = 0; cpu < kCpus; cpu++) {
    DtlCpuMetrics counted(ProcessorBits{.chip = 2, .node = 4});
    generator::PlausibleDispatches processor(static_cast<unsigned>(cpu));
    for (int i = 0; i < kEntries; i++) {
      const DtlEntry entry = processor.next();
      counted.add(std::span(&entry, 1), kHz);
    }
    metrics.cpus.push_back({.cpu = cpu,
                            .counts = counted.counts(),
                            .capture = DtlMetrics::Capture{.recording = true}});
  }
  DtlHistogramLimit limit;
  const std::string text = metrics.to_text(limit);
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
