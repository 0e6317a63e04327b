// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/report/dtl_summary.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>

#include "core/base/counted.h"
#include "output/io/shares.h"
#include "output/report/dtl_waits_text.h"

namespace htmtrace {
namespace {

using Text = std::back_insert_iterator<std::string>;

class Writer {
 public:
  Writer(const DtlSummary& summary, std::string& text)
      : summary_(summary), out_(std::back_inserter(text)) {
    for (const auto& [cpu, analysis] : summary.cpus) all_.add(*analysis);
  }

  void write() {
    fmt::format_to(out_, "{} of {}\n", counted(all_.entries(), "dispatch"),
                   counted(summary_.cpus.size(), "virtual processor"));
    if (all_.entries() == 0) return;
    write_waits();
    const DtlWaitTables waits{.clock = summary_.clock, .cpus = summary_.cpus};
    out_ = std::ranges::copy(waits.histograms(), out_).out;
    write_cpus();
    out_ = std::ranges::copy(waits.by_cpu(), out_).out;
    write_reasons("dispatch reason", all_.reasons().dispatch, dispatch_reason_name);
    write_reasons("preempt reason", all_.reasons().preempt, preempt_reason_name);
    write_dispersion();
    write_moves();
    write_instructions();
    write_faults();
  }

 private:
  // Microseconds, or ticks if the clock is unknown.
  std::string time(uint64_t ticks) const {
    const DtlClock since{.boot_timebase = 0, .ticks_per_second = summary_.clock.ticks_per_second};
    const auto ns = since.nanoseconds(ticks);
    return ns ? decimal(*ns) : fmt::format("{}", ticks);
  }
  const char* unit() const { return summary_.clock.ticks_per_second != 0 ? "us" : "ticks"; }

  // Seconds since boot, on perf's clock.
  std::string moment(uint64_t timebase) const {
    const auto ns = summary_.clock.nanoseconds(timebase);
    return ns ? decimal(*ns / 1'000'000) + " s" : fmt::format("timebase {}", timebase);
  }

  void write_waits() {
    fmt::format_to(out_, "\n{:<22}{:>12}{:>12}{:>12}{:>12}{:>16}\n", fmt::format("{}:", unit()),
                   "p50", "p99", "p99.9", "max", "sum");
    const auto line = [&](const char* what, const TickHistogram& times) {
      fmt::format_to(out_, "  {:<20}{:>12}{:>12}{:>12}{:>12}{:>16}\n", what,
                     time(times.quantile(500)), time(times.quantile(990)),
                     time(times.quantile(999)), time(times.most()), time(times.sum()));
    };
    line("enqueue to dispatch", all_.enqueue_to_dispatch());
    line("ready to enqueue", all_.ready_to_enqueue());
    line("waiting to ready", all_.waiting_to_ready());
  }

  void write_cpus() {
    find_homes();
    fmt::format_to(out_, "\n{:>5}{:>12}{:>10}{:>26}{:>12}{:>12}{:>12}{:>9}{:>10}  {}\n", "CPU",
                   "dispatches", "stolen", "most in 100 ms", "p50", "p99", "max", "> 10 ms",
                   "moved", "home");
    for (const auto& [cpu, analysis] : summary_.cpus) {
      if (analysis->entries() != 0) write_cpu(cpu, *analysis);
    }
    fmt::format_to(
        out_, "{:>5}{:>12}{:>10}{:>26}{:>12}{:>12}{:>12}{:>9}{:>10}\n", "all", all_.entries(),
        share(all_.stolen(), all_.span()), "", time(all_.enqueue_to_dispatch().quantile(500)),
        time(all_.enqueue_to_dispatch().quantile(990)), time(all_.enqueue_to_dispatch().most()),
        all_.late(), share(all_.moved(), all_.entries()));
    if (const uint64_t error = summary_.places->processors.error(); error != 0) {
      fmt::format_to(
          out_, "  home: dispatches may be too low by {}, so another processor may be the home\n",
          error);
    }
  }

  void write_cpu(int cpu, const DtlAnalysis& analysis) {
    const TickHistogram& times = analysis.enqueue_to_dispatch();
    const uint64_t interval = summary_.clock.ticks_per_second / DtlAnalysis::kIntervalsPerSecond;
    const DtlAnalysis::Interval worst = analysis.worst();
    fmt::format_to(out_, "{:>5}{:>12}{:>10}{:>26}{:>12}{:>12}{:>12}{:>9}{:>10}  {}\n", cpu,
                   analysis.entries(), share(analysis.stolen(), analysis.span()),
                   fmt::format("{} at {}", share(worst.stolen, interval), moment(worst.begin)),
                   time(times.quantile(500)), time(times.quantile(990)), time(times.most()),
                   analysis.late(), share(analysis.moved(), analysis.entries()),
                   home_text(cpu, analysis.entries()));
  }

  // Finds the processor that ran each virtual processor most. On a tie, takes the lowest number.
  void find_homes() {
    for (const auto& slot : summary_.places->processors.entries()) {
      Home& home = homes_[static_cast<int>(slot.key >> 16)];
      const Home here{.times = slot.entry.count, .processor = slot.key & 0xffff};
      if (here.times > home.times || (here.times == home.times && here.processor < home.processor))
        home = here;
    }
  }

  std::string home_text(int cpu, uint64_t entries) const {
    const auto home = homes_.find(cpu);
    if (home == homes_.end()) return {};
    return fmt::format("{} ({})", home->second.processor, share(home->second.times, entries));
  }

  void write_reasons(const char* title, const std::array<uint64_t, 256>& counts,
                     std::string_view (*name)(uint8_t)) {
    std::vector<size_t> codes;
    for (size_t code = 0; code < counts.size(); code++) {
      if (counts[code] != 0) codes.push_back(code);
    }
    std::ranges::stable_sort(codes, std::greater(), [&](size_t code) { return counts[code]; });
    fmt::format_to(out_, "\n{}:\n", title);
    for (const size_t code : codes) {
      const std::string_view known = name(static_cast<uint8_t>(code));
      fmt::format_to(out_, "  {:<34}{:>12} {:>9}\n",
                     known.empty() ? fmt::format("{}", code) : std::string(known), counts[code],
                     share(counts[code], all_.entries()));
    }
  }

  // Prints how far the virtual processors moved, by processor number.
  void write_dispersion() {
    if (!summary_.distances) return;
    const DtlPlaces::Distances& far = summary_.places->distances();
    fmt::format_to(out_, "\ndispatched, compared with the preceding dispatch:\n");
    const auto line = [&](const char* where, uint64_t count) {
      fmt::format_to(out_, "  {:<34}{:>12} {:>9}\n", where, count, share(count, all_.entries()));
    };
    line("on the same processor", all_.entries() - std::min(all_.moved(), all_.entries()));
    line("on the same chip", far.same_chip);
    line("on the same node", far.same_node);
    line("elsewhere", far.elsewhere);
  }

  void write_moves() {
    const auto moves = summary_.places->moves.top(summary_.top);
    if (moves.empty()) return;
    fmt::format_to(out_, "\nmoved from processor to processor{}:\n",
                   most_of(summary_.places->moves));
    for (const auto& slot : moves) {
      fmt::format_to(out_, "  {:>8} {:>8} {:>12} {:>9}\n", slot.key >> 16, slot.key & 0xffff,
                     slot.entry.count, share(slot.entry.count, all_.moved()));
    }
  }

  void write_instructions() {
    fmt::format_to(out_, "\nnext instruction (srr0){}:\n", most_of(summary_.places->instructions));
    for (const auto& slot : summary_.places->instructions.top(summary_.top)) {
      const SymbolTable::Symbol* symbol =
          summary_.symbols == nullptr ? nullptr : summary_.symbols->find(EffectiveAddr{slot.key});
      fmt::format_to(out_, "  {:#018x} {:>12} {:>9}{}\n", slot.key, slot.entry.count,
                     share(slot.entry.count, all_.entries()),
                     symbol == nullptr ? "" : "  " + symbol_text(*symbol, slot.key));
    }
  }

  void write_faults() {
    const auto pages = summary_.places->fault_pages.top(summary_.top);
    if (pages.empty()) return;
    fmt::format_to(out_, "\nmissing pages of 4 KiB{}:\n", most_of(summary_.places->fault_pages));
    for (const auto& slot : pages) {
      fmt::format_to(out_, "  {:#018x} {:>12}\n", slot.key * 4096, slot.entry.count);
    }
  }

  // Introduces a truncated or inexact table.
  std::string most_of(const DtlPlaces::Table& table) const {
    std::string text;
    if (table.size() > summary_.top) text = fmt::format(", the {} most frequent", summary_.top);
    if (table.error() != 0) text += fmt::format(" (too low by {} at most)", table.error());
    return text;
  }

  struct Home {
    uint64_t times = 0;
    uint64_t processor = 0;
  };

  const DtlSummary& summary_;
  Text out_;
  std::map<int, Home> homes_;
  DtlAnalysis all_;
};

}  // namespace

std::string DtlSummary::to_text() const {
  std::string text;
  Writer(*this, text).write();
  return text;
}

}  // namespace htmtrace
