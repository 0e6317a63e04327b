// SPDX-License-Identifier: GPL-2.0-or-later
// The final report of `htmtrace dtl`: the reasons of dispatches, the losses, and the proof that
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
  // The missing entries by the hypervisor's index of the log. Empty if the index is not available.
  std::optional<DtlShortfall> shortfall{};
  // The missing entries that htmtrace's driver announced before the end of the recording.
  uint64_t announced = 0;
  // The dispatches by the hypervisor's counter, while `logged` entries were added to the log.
  std::optional<uint64_t> dispatches{};
  uint64_t logged = 0;
};

class DtlReport {
 public:
  std::string event;
  uint64_t period_ns = 0;
  std::string driver;  // for people; empty if unknown
  std::chrono::nanoseconds duration{0};
  // Without an index: the reason why completeness cannot be proven.
  std::string unprovable;

  void add(const DtlCpuResult& result, const DtlReasons& reasons, const Ledger& losses);

  void add(const Loss& loss) { ledger_.add(loss); }

  const Ledger& ledger() const { return ledger_; }
  uint64_t entries() const { return entries_; }
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
  uint64_t indexed_ = 0;   // CPUs with a known index of the hypervisor
  uint64_t complete_ = 0;  // CPUs whose index proves that no entry is missing
  uint64_t counted_ = 0;   // CPUs whose dispatch counter was compared with the entries
  uint64_t agreeing_ = 0;
};

}  // namespace htmtrace
