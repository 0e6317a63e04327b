// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/report/dtl_top.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>

#include "core/base/counted.h"
#include "output/io/shares.h"

namespace htmtrace {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;

using TopText = std::back_insert_iterator<std::string>;

uint64_t sort_key(const DtlTopLine& line, DtlTopOrder order) {
  switch (order) {
    case DtlTopOrder::kStolen:
      return line.analysis.stolen();
    case DtlTopOrder::kLatency:
      return line.analysis.enqueue_to_dispatch().quantile(990);
    case DtlTopOrder::kDispatches:
      return line.analysis.entries();
    case DtlTopOrder::kMoved:
      return line.analysis.moved();
    case DtlTopOrder::kCpu:
      break;
  }
  return 0;
}

class TopWriter {
 public:
  TopWriter(const DtlTopView& view, std::string& text)
      : view_(view), out_(std::back_inserter(text)) {}

  void head() {
    fmt::format_to(
        out_, "{} s, {}, the last {} s; times in {}\n", decimal(view_.now_ns / 1'000'000),
        counted(view_.lines.size(), "virtual processor"), decimal(view_.interval_ns / 1'000'000),
        view_.clock.ticks_per_second != 0 ? "us" : "ticks");
    fmt::format_to(out_, "{:>5}{:>10}{:>10}{:>11}{:>11}{:>12}{:>11}{:>10}{:>10}{:>10}{:>7}{:>7}\n",
                   "CPU", "disp/s", "stolen", "wait p50", "p99", "max", "queue p99", "preempt/s",
                   "moved", "away", "home", "full");
  }

  void line(const std::string& name, const DtlTopLine& line, uint64_t cpus,
            const std::string& home) {
    const DtlAnalysis& analysis = line.analysis;
    const TickHistogram& waits = analysis.enqueue_to_dispatch();
    fmt::format_to(
        out_, "{:>5}{:>10}{:>10}{:>11}{:>11}{:>12}{:>11}{:>10}{:>10}{:>10}{:>7}{:>7}{}\n", name,
        rate(analysis.entries()), stolen(analysis.stolen(), cpus), time(waits.quantile(500)),
        time(waits.quantile(990)), time(waits.most()),
        time(analysis.ready_to_enqueue().quantile(990)),
        rate(analysis.reasons().preempt[kPreemptTimeSlice]),
        share(analysis.moved(), analysis.entries()), share(line.away, analysis.entries()), home,
        line.full, line.incomplete ? "  incomplete" : "");
  }

  void more(size_t lines) { fmt::format_to(out_, "{:>5} and {} more\n", "", lines); }

 private:
  uint64_t rate(uint64_t count) const { return count * kSecondNs / view_.interval_ns; }

  // Share of the interval. The share exceeds 100 % if the wait began earlier than the interval.
  std::string stolen(uint64_t ticks, uint64_t cpus) const {
    const auto ns = since_.nanoseconds(ticks);
    return ns ? share(*ns, view_.interval_ns * cpus) : "-";
  }

  std::string time(uint64_t ticks) const {
    const auto ns = since_.nanoseconds(ticks);
    return ns ? decimal(*ns) : fmt::format("{}", ticks);
  }

  const DtlTopView& view_;
  DtlClock since_{.boot_timebase = 0, .ticks_per_second = view_.clock.ticks_per_second};
  TopText out_;
};

}  // namespace

std::string DtlTopView::to_text() {
  std::ranges::sort(lines, [&](const DtlTopLine& a, const DtlTopLine& b) {
    const uint64_t key_a = sort_key(a, order), key_b = sort_key(b, order);
    return std::tuple(key_b, a.cpu) < std::tuple(key_a, b.cpu);
  });
  std::string text;
  TopWriter writer(*this, text);
  writer.head();
  const size_t shown = std::min(lines.size(), most_lines);
  DtlTopLine all;
  for (size_t i = 0; i < lines.size(); i++) {
    const DtlTopLine& line = lines[i];
    all.analysis.add(line.analysis);
    all.away += line.away;
    all.full += line.full;
    if (i >= shown) continue;
    writer.line(fmt::format("{}", line.cpu), line, 1,
                line.analysis.entries() == 0 ? "-" : fmt::format("{}", line.home));
  }
  if (shown < lines.size()) writer.more(lines.size() - shown);
  if (!lines.empty()) writer.line("all", all, lines.size(), "");
  return text;
}

}  // namespace htmtrace
