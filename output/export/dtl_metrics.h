// SPDX-License-Identifier: GPL-2.0-or-later
// Metrics of a dispatch trace log in Prometheus' text format 0.0.4, which the textfile collector of
// node_exporter and pmdaopenmetrics of PCP read. The collector does not read OpenMetrics, and
// refuses time stamps (node_exporter, collector/textfile.go). htmtrace-dtl(1), METRICS, lists all
// metrics.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/dispatch_log/metrics.h"
#include "core/dispatch_log/slots.h"

namespace htmtrace {

// Limits the number of histograms, and so the size of the text. The waits of a virtual processor
// after stops for one reason have three histograms of their own if the limit allows it. Otherwise
// they count in the histograms of cpu="other". The choice holds for all texts of a recorder: a
// wait never moves from one histogram to another, so no counter decreases or jumps.
class DtlHistogramLimit {
 public:
  // 4096 pairs are 184,320 lines. A partition with 1,365 CPUs and three reasons is below the limit.
  static constexpr size_t kMostPairs = 4096;
  static constexpr size_t kWaits = 3;  // histograms of a pair of CPU and reason

  explicit DtlHistogramLimit(size_t most_pairs = kMostPairs) : free_pairs_(most_pairs) {}

  // Returns true if the pair has histograms of its own. `reason` is a number of DtlReasonNames.
  bool admit(int cpu, size_t reason);

  // The number of histograms beyond the limit. Their waits count in cpu="other".
  size_t aggregated() const { return kWaits * aggregated_pairs_; }

 private:
  using Reasons = std::bitset<DtlReasonNames::kMost>;

  size_t free_pairs_;
  size_t aggregated_pairs_ = 0;
  std::map<int, Reasons> own_, others_;  // by CPU
};

struct DtlMetrics {
  // The labels of the info metric. Empty values are left out.
  struct About {
    std::string version{}, partition{}, kernel{}, driver{}, event{};
  };

  // The state of a CPU, which only a recorder knows.
  struct Capture {
    bool recording = false;      // the kernel has not disabled the event
    bool loss_provable = false;  // the hypervisor's index can be read
    uint64_t lost = 0;           // at least this number of entries
    DtlTotals signs{};
  };

  struct Cpu {
    int cpu = 0;
    DtlCpuCounts counts{};
    std::optional<Capture> capture{};
  };

  // The state of the recorder, which a recording does not have.
  struct Recorder {
    bool running = false;
    int64_t start_ns = 0;  // CLOCK_REALTIME
    uint64_t write_errors = 0;
  };

  About about{};
  std::vector<Cpu> cpus{};  // sorted by number
  bool distances = false;   // the chips and nodes of the processors are known
  std::optional<Recorder> recorder{};

  // `limit` must be the limit of the preceding texts of the same recorder.
  std::string to_text(DtlHistogramLimit& limit) const;
};

}  // namespace htmtrace
