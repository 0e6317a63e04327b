// SPDX-License-Identifier: GPL-2.0-or-later
// Metrics of a dispatch trace log in Prometheus' text format 0.0.4, which the textfile collector of
// node_exporter and pmdaopenmetrics of PCP read. The collector does not read OpenMetrics, and
// refuses time stamps (node_exporter, collector/textfile.go). htmtrace-dtl(1), METRICS, lists all
// metrics.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/dispatch_log/metrics.h"
#include "core/dispatch_log/slots.h"

namespace htmtrace {

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

  std::string to_text() const;
};

}  // namespace htmtrace
