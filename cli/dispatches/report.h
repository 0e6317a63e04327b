// SPDX-License-Identifier: GPL-2.0-or-later
// What a run of `htmtrace dtl` tells people at its end: reasons, losses, and how it is known that
// nothing else was lost.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "core/dispatch_log/analysis.h"
#include "core/dispatch_log/blocks.h"
#include "core/dispatch_log/proof.h"
#include "core/dispatch_log/slots.h"
#include "output/recording/ledger.h"

namespace htmtrace {

// The result of one CPU.
struct DtlCpuResult {
  int cpu = 0;
  uint64_t entries = 0;
  DtlTotals totals{};
  bool off = false;  // the kernel disabled the event before the end
  // By the hypervisor's index of the log, when the kernel shows it.
  std::optional<DtlShortfall> shortfall{};
  // By its dispatch counter, while `logged` entries were added to the log.
  std::optional<uint64_t> dispatches{};
  uint64_t logged = 0;
};

class DtlReport {
 public:
  std::string event;
  uint64_t period_ns = 0;
  std::string driver;  // for people; empty: not known
  std::chrono::nanoseconds duration{0};
  // Why it cannot be proven that nothing else is missing, if no index is known.
  std::string unprovable;

  void add(const DtlCpuResult& result, const DtlReasons& reasons, const Ledger& losses);

  void add(const Loss& loss) { ledger_.add(loss); }

  const Ledger& ledger() const { return ledger_; }
  // Returns several lines. The last one has the totals and the losses.
  std::string text() const;
  // The end of the recording: incomplete if there is any loss.
  DtlEnd end() const;
  void print() const;

 private:
  void judge(const DtlCpuResult& result);
  void bound(const DtlCpuResult& result);
  void judge_off(const DtlCpuResult& result);

  Ledger ledger_;
  DtlReasons reasons_;
  uint64_t cpus_ = 0;
  uint64_t entries_ = 0;
  uint64_t indexed_ = 0;   // CPUs of which the hypervisor's index is known
  uint64_t complete_ = 0;  // and says that nothing is missing
  uint64_t counted_ = 0;   // CPUs of which the dispatch counter could be compared
  uint64_t agreeing_ = 0;
};

}  // namespace htmtrace
