// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/report/dtl_waits_text.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include "output/io/json_writer.h"
#include "output/io/shares.h"

namespace htmtrace {
namespace {

struct WaitKind {
  const char* title;
  const char* name;  // key for programs
  const TickHistogram& (DtlAnalysis::*times)() const;
};

constexpr std::array<WaitKind, 3> kWaits{
    {{"enqueue to dispatch", "enqueue_to_dispatch", &DtlAnalysis::enqueue_to_dispatch},
     {"ready to enqueue", "ready_to_enqueue", &DtlAnalysis::ready_to_enqueue},
     {"waiting to ready", "waiting_to_ready", &DtlAnalysis::waiting_to_ready}}};

// Element i counts the waits that are shorter than 2^i ticks and not shorter than half of that.
constexpr size_t kDoublings = 33;
using Doublings = std::array<uint64_t, kDoublings>;

Doublings doublings_of(const TickHistogram& times) {
  Doublings counts{};
  uint64_t before = 0;
  for (unsigned bits = 0; bits < kDoublings && before < times.count(); bits++) {
    const uint64_t below = times.below(bits);
    counts[bits] = below - before;
    before = below;
  }
  return counts;
}

// The range from the first to the last element with a count in any of these histograms.
struct WaitExtent {
  size_t begin = kDoublings, end = 0;

  void add(const Doublings& counts) {
    for (size_t i = 0; i < kDoublings; i++) {
      if (counts[i] == 0) continue;
      begin = std::min(begin, i);
      end = std::max(end, i + 1);
    }
  }
};

// Returns a character for a share: its tens of percent, or a dot below ten percent.
char share_digit(uint64_t part, uint64_t of) {
  if (part == 0) return ' ';
  const uint64_t tens = hundredths_of(part, of) / 1000;
  return tens == 0 ? '.' : static_cast<char>('0' + std::min<uint64_t>(tens, 9));
}

class WaitWriter {
 public:
  explicit WaitWriter(const DtlWaitTables& tables)
      : tables_(tables),
        since_{.boot_timebase = 0, .ticks_per_second = tables.clock.ticks_per_second},
        out_(std::back_inserter(text_)) {
    for (const auto& [cpu, analysis] : tables.cpus) all_.add(*analysis);
  }

  std::string histograms() {
    std::array<Doublings, kWaits.size()> counts;
    WaitExtent extent;
    for (size_t i = 0; i < kWaits.size(); i++) extent.add(counts[i] = doublings(all_, kWaits[i]));
    fmt::format_to(out_, "\n{:<16}", fmt::format("{}:", unit()));
    for (const WaitKind& wait : kWaits) fmt::format_to(out_, "{:>20}{:8}", wait.title, "");
    end_line();
    for (size_t bits = extent.begin; bits < extent.end; bits++) {
      fmt::format_to(out_, "  < {:>12}", time(uint64_t{1} << bits));
      for (const Doublings& each : counts) {
        fmt::format_to(out_, "{:>11}{:>9} {:<7}", each[bits], share(each[bits], all_.entries()),
                       std::string((each[bits] * kBar + all_.entries() - 1) / all_.entries(), '#'));
      }
      end_line();
    }
    return std::move(text_);
  }

  std::string by_cpu() {
    for (const WaitKind& wait : kWaits) table(wait);
    return std::move(text_);
  }

  std::string csv() {
    text_ = "cpu,wait,dispatches,sum_ns,p50_ns,p99_ns,p999_ns,max_ns,ticks_per_second";
    for (size_t bits = 0; bits < kDoublings; bits++) {
      fmt::format_to(out_, ",ticks_below_{}", uint64_t{1} << bits);
    }
    text_ += '\n';
    each([this](const std::string& cpu, const DtlAnalysis& analysis, const WaitKind& wait) {
      const TickHistogram& times = (analysis.*wait.times)();
      fmt::format_to(out_, "{},{},{},{},{},{},{},{},{}", cpu, wait.name, times.count(),
                     ns(times.sum()), ns(times.quantile(500)), ns(times.quantile(990)),
                     ns(times.quantile(999)), ns(times.most()), frequency());
      for (const uint64_t count : doublings_of(times)) fmt::format_to(out_, ",{}", count);
      text_ += '\n';
    });
    return std::move(text_);
  }

  std::string json() {
    each([this](const std::string& cpu, const DtlAnalysis& analysis, const WaitKind& wait) {
      const TickHistogram& times = (analysis.*wait.times)();
      const auto nanoseconds = [this](uint64_t ticks) { return since_.nanoseconds(ticks); };
      JsonWriter json(JsonWriter::Layout::kCompact);
      json.begin_object();
      cpu == kAll ? json.null("cpu") : json.formatted("cpu", cpu);
      json.text("wait", wait.name);
      json.number("dispatches", times.count());
      json.number("sum_ns", nanoseconds(times.sum()));
      json.number("p50_ns", nanoseconds(times.quantile(500)));
      json.number("p99_ns", nanoseconds(times.quantile(990)));
      json.number("p999_ns", nanoseconds(times.quantile(999)));
      json.number("max_ns", nanoseconds(times.most()));
      if (since_.ticks_per_second != 0)
        json.number("ticks_per_second", since_.ticks_per_second);
      else
        json.null("ticks_per_second");
      json.begin_array("histogram");
      const Doublings counts = doublings_of(times);
      for (size_t bits = 0; bits < kDoublings; bits++) {
        if (counts[bits] == 0) continue;
        json.begin_object();
        json.number("ticks_below", uint64_t{1} << bits);
        json.number("count", counts[bits]);
        json.end_object();
      }
      json.end_array();
      json.end_object();
      text_ += json.take();
    });
    return std::move(text_);
  }

 private:
  static constexpr const char* kAll = "all";
  static constexpr uint64_t kBar = 7;

  static Doublings doublings(const DtlAnalysis& analysis, const WaitKind& wait) {
    return doublings_of((analysis.*wait.times)());
  }

  template <class Visit>
  void each(Visit visit) {
    for (const auto& [cpu, analysis] : tables_.cpus) {
      if (analysis->entries() == 0) continue;
      for (const WaitKind& wait : kWaits) visit(fmt::format("{}", cpu), *analysis, wait);
    }
    for (const WaitKind& wait : kWaits) visit(kAll, all_, wait);
  }

  void table(const WaitKind& wait) {
    WaitExtent extent;
    extent.add(doublings(all_, wait));
    fmt::format_to(out_, "\n{}, {}; tens of percent below each doubling from {} to {}:\n",
                   wait.title, unit(), time(uint64_t{1} << extent.begin),
                   time(uint64_t{1} << (extent.end - 1)));
    fmt::format_to(out_, "{:>5}{:>12}{:>12}{:>12}{:>12}{:>12}\n", "CPU", "dispatches", "p50", "p99",
                   "p99.9", "max");
    for (const auto& [cpu, analysis] : tables_.cpus) {
      if (analysis->entries() != 0) row(fmt::format("{}", cpu), (analysis->*wait.times)(), extent);
    }
    row(kAll, (all_.*wait.times)(), extent);
  }

  void row(const std::string& cpu, const TickHistogram& times, const WaitExtent& extent) {
    fmt::format_to(out_, "{:>5}{:>12}{:>12}{:>12}{:>12}{:>12}  ", cpu, times.count(),
                   time(times.quantile(500)), time(times.quantile(990)), time(times.quantile(999)),
                   time(times.most()));
    const Doublings counts = doublings_of(times);
    for (size_t bits = extent.begin; bits < extent.end; bits++) {
      text_ += share_digit(counts[bits], times.count());
    }
    end_line();
  }

  void end_line() {
    text_.erase(text_.find_last_not_of(' ') + 1);
    text_ += '\n';
  }

  // Microseconds, or ticks if the clock is unknown.
  std::string time(uint64_t ticks) const {
    const auto ns = since_.nanoseconds(ticks);
    return ns ? decimal(*ns) : fmt::format("{}", ticks);
  }
  const char* unit() const { return since_.ticks_per_second != 0 ? "us" : "ticks"; }

  // Fields of a row of CSV: empty if the clock is unknown.
  std::string ns(uint64_t ticks) const {
    const auto ns = since_.nanoseconds(ticks);
    return ns ? fmt::format("{}", *ns) : "";
  }
  std::string frequency() const {
    return since_.ticks_per_second != 0 ? fmt::format("{}", since_.ticks_per_second) : "";
  }

  const DtlWaitTables& tables_;
  DtlClock since_;
  DtlAnalysis all_;
  std::string text_;
  std::back_insert_iterator<std::string> out_;
};

}  // namespace

std::string DtlWaitTables::histograms() const {
  return WaitWriter(*this).histograms();
}

std::string DtlWaitTables::by_cpu() const {
  return WaitWriter(*this).by_cpu();
}

std::string DtlWaitTables::for_programs(DtlFormat format) const {
  WaitWriter writer(*this);
  return format == DtlFormat::kCsv ? writer.csv() : writer.json();
}

}  // namespace htmtrace
