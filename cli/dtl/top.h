// SPDX-License-Identifier: GPL-2.0-or-later
// `htmtrace dtl top`: a live table of the virtual processors.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/dispatch_log/analysis.h"
#include "core/dispatch_log/slots.h"
#include "output/report/dtl_top.h"

namespace htmtrace {

struct DtlTopOptions {
  std::chrono::nanoseconds interval{std::chrono::seconds(1)};
  uint64_t count = 0;  // number of screens; 0: no limit
  DtlTopOrder order = DtlTopOrder::kStolen;
};

class DtlTop {
 public:
  // One virtual processor since the last screen. Only one thread at a time may use it.
  class Track {
   public:
    void add(std::span<const DtlEntry> entries, int cpu, const DtlClock& clock);
    // Returns the data since the last call.
    DtlTopLine take(int cpu, const DtlTotals& totals, bool ended);

   private:
    static constexpr size_t kProcessors = 256;
    DtlAnalysis analysis_;
    DtlPlaces places_{kProcessors};             // of the interval
    DtlPlaces::Table processors_{kProcessors};  // since the beginning
    DtlTotals before_;
  };

  explicit DtlTop(const DtlTopOptions& options);

  // Returns the time until the next screen; zero or less: now.
  std::chrono::nanoseconds left() const;
  // Returns the text for standard output. On a terminal, the text replaces the previous screen.
  std::string screen(const DtlClock& clock, std::vector<DtlTopLine> lines);
  // Returns true if all screens were shown.
  bool done() const { return options_.count != 0 && shown_ >= options_.count; }

 private:
  using Clock = std::chrono::steady_clock;

  DtlTopOptions options_;
  Clock::time_point begin_ = Clock::now();
  bool terminal_;
  uint64_t shown_ = 0;
};

}  // namespace htmtrace
