// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/dispatches/report.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "cli/commands.h"
#include "cli/messages.h"
#include "core/base/counted.h"
#include "core/dispatch_log/entry.h"
#include "core/dispatch_log/proof.h"

namespace htmtrace {
namespace {

// Each wrap of the AUX area truncates one delivery and overwrites another delivery.
constexpr uint64_t kMostLostPerPass = 2 * kDtlMostAtOnce;

std::string seconds(uint64_t ns) {
  return fmt::format("{}.{:03} s", ns / 1'000'000'000, ns / 1'000'000 % 1000);
}

// Returns "WHAT once, at 5.100 s" or "WHAT 3 times, 5.100 s to 7.000 s", in perf's time.
std::string describe(const char* what, const DtlSign& sign) {
  if (sign.count == 1) return fmt::format("{} once, at {}", what, seconds(sign.first_ns));
  return fmt::format("{} {} times, {} to {}", what, sign.count, seconds(sign.first_ns),
                     seconds(sign.last_ns));
}

std::string why_lost(const DtlTotals& totals) {
  std::string why;
  const auto add = [&](const DtlSign& sign, const char* what) {
    if (sign.count == 0) return;
    why += fmt::format("{}{}", why.empty() ? "" : "; ", describe(what, sign));
  };
  add(totals.saturated, "the log was full");
  add(totals.passes, "the AUX area wrapped");
  add(totals.overruns, "the AUX area was overrun");
  add(totals.void_slots, "an entry was void");
  add(totals.area_full, "the AUX area was full");
  add(totals.not_logged, "the kernel removed the event from its CPU");
  add(totals.taken, "another user of the log restarted it");
  return why.empty() ? "the driver did not deliver the entries" : why;
}

std::string reason_line(const char* title, const std::array<uint64_t, 256>& counts,
                        std::string_view (*name)(uint8_t)) {
  std::vector<size_t> codes;
  for (size_t code = 0; code < counts.size(); code++) {
    if (counts[code] != 0) codes.push_back(code);
  }
  std::ranges::stable_sort(codes, std::greater(), [&](size_t code) { return counts[code]; });
  std::string text = fmt::format("  {}:", title);
  for (const size_t code : codes) {
    const std::string_view known = name(static_cast<uint8_t>(code));
    text += fmt::format(" {}={}", known.empty() ? fmt::format("{}", code) : std::string(known),
                        counts[code]);
  }
  return text + "\n";
}

}  // namespace

void DtlReport::add(const DtlCpuResult& result, const DtlReasons& reasons, const Ledger& losses) {
  cpus_++;
  entries_ += result.entries;
  reasons_.add(reasons);
  for (const Ledger::Entry& entry : losses.entries()) ledger_.add(entry.loss);
  if (result.shortfall)
    judge(result);
  else
    bound(result);
  if (result.off) judge_off(result);
  if (result.totals.disordered.count != 0) {
    ledger_.add(
        {fmt::format("CPU {}", result.cpu),
         describe("an entry was overwritten while the driver copied it, and is out of order",
                  result.totals.disordered),
         LossUnit::kUnknown, 0});
  }
  // Each dispatch has an entry only if all events are recorded.
  if (event != "all" || !result.dispatches) return;
  counted_++;
  if (dispatches_agree(*result.dispatches, result.logged)) agreeing_++;
}

// Reports the missing entries by the hypervisor's index, or by the driver's count if that is
// larger.
void DtlReport::judge(const DtlCpuResult& result) {
  const DtlShortfall& shortfall = *result.shortfall;
  const uint64_t most = std::max(shortfall.most, result.announced);
  const std::string place = fmt::format("CPU {}", result.cpu);
  indexed_++;
  if (shortfall.too_many) {
    ledger_.add({place,
                 "more entries than the hypervisor wrote: another user of the log restarted it",
                 LossUnit::kUnknown, 0});
  } else if (most != 0) {
    std::string cause = why_lost(result.totals);
    if (shortfall.least != most) cause += fmt::format("; at least {}", shortfall.least);
    ledger_.add({place, cause, LossUnit::kEntries, most});
  } else if (!result.off) {
    complete_++;
  }
}

// Reports the missing entries without the index, by the signs of loss.
void DtlReport::bound(const DtlCpuResult& result) {
  const std::string place = fmt::format("CPU {}", result.cpu);
  const DtlTotals& totals = result.totals;
  if (totals.flagged.count != 0) {
    // htmtrace's driver announces the number, unless the announcements found no room.
    const bool counted = totals.announced_entries != 0;
    ledger_.add({place,
                 counted ? why_lost(totals)
                         : describe("the driver flagged missing entries", totals.flagged),
                 counted ? LossUnit::kEntries : LossUnit::kUnknown, totals.announced_entries});
    return;
  }
  if (totals.saturated.count != 0) {
    ledger_.add({place,
                 describe("the log was full", totals.saturated) +
                     "; the number of overwritten entries is not known",
                 LossUnit::kUnknown, 0});
  }
  if (totals.passes.count != 0) {
    ledger_.add({place, describe("at most: the AUX area wrapped", totals.passes),
                 LossUnit::kEntries, totals.passes.count * kMostLostPerPass});
  }
  if (totals.overruns.count != 0) {
    ledger_.add({place, describe("at most: the AUX area was overrun", totals.overruns),
                 LossUnit::kEntries, totals.overrun_entries});
  }
  if (totals.void_slots.count != 0) {
    ledger_.add(
        {place,
         describe("another user of the log restarted it: an entry was void", totals.void_slots),
         LossUnit::kEntries, totals.void_slots.count});
  }
}

// Reports the entries that were not logged after the kernel had disabled the event. htmtrace never
// enables the event again, because that crashes the kernel's own driver.
void DtlReport::judge_off(const DtlCpuResult& result) {
  const std::string place = fmt::format("CPU {}", result.cpu);
  const std::string cause =
      fmt::format("{}, after {}",
                  result.totals.taken.count != 0 ? "another user of the log restarted it"
                                                 : "the kernel disabled the event",
                  seconds(result.totals.last_ns));
  if (event == "all" && result.dispatches && *result.dispatches >= result.logged) {
    ledger_.add({place, cause + ", by the dispatch counter", LossUnit::kEntries,
                 *result.dispatches - result.logged});
  } else {
    ledger_.add({place, cause, LossUnit::kUnknown, 0});
  }
}

std::string DtlReport::text() const {
  std::string text;
  if (entries_ != 0) {
    text += reason_line("dispatch reasons", reasons_.dispatch, dispatch_reason_name);
    text += reason_line("preempt reasons", reasons_.preempt, preempt_reason_name);
  }
  if (!driver.empty()) text += fmt::format("  driver: {}\n", driver);
  if (indexed_ == 0) {
    text += fmt::format("  complete: not provable, {}\n", unprovable);
  } else {
    text += fmt::format("  complete: on {} of {} CPUs, by the hypervisor's index of the log\n",
                        complete_, cpus_);
  }
  if (counted_ != 0) {
    text += fmt::format("  dispatch counter: agrees with the index on {} of {} CPUs\n", agreeing_,
                        counted_);
  }
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
  text += fmt::format("htmtrace: {} of {} in {}.{:03} s, read every {} us; {}\n",
                      counted(entries_, "entry"), counted(cpus_, "CPU"), milliseconds / 1000,
                      milliseconds % 1000, period_ns / 1000, ledger_.summary());
  return text;
}

DtlEnd DtlReport::end() const {
  return {.status = ledger_.empty() ? kExitDone : kExitIncomplete, .text = text()};
}

void DtlReport::print() const {
  print_text(text());
}

}  // namespace htmtrace
