// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/print/dtl_series_text.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "output/io/json_writer.h"
#include "output/io/shares.h"

namespace htmtrace {
namespace {

// A data point of a virtual processor.
struct CpuPoint {
  const DtlPoint* point = nullptr;
  int cpu = 0;
};

std::vector<CpuPoint> by_time(const DtlSeriesText& series) {
  std::vector<CpuPoint> points;
  for (const auto& [cpu, of] : series.cpus) {
    for (const DtlPoint& point : of->points()) points.push_back({&point, cpu});
  }
  std::ranges::sort(points, {},
                    [](const CpuPoint& each) { return std::pair(each.point->interval, each.cpu); });
  return points;
}

uint64_t elsewhere(const DtlPoint& point) {
  return point.moved - point.same_chip - point.same_node;
}

class SeriesWriter {
 public:
  SeriesWriter(const DtlSeriesText& series, TextOutput& output)
      : series_(series),
        output_(output),
        since_{.boot_timebase = 0, .ticks_per_second = series.clock.ticks_per_second} {
    for (const auto& [cpu, of] : series.cpus) {
      lowest_ = std::min(lowest_, of->lowest());
      highest_ = std::max(highest_, of->highest());
    }
  }

  // ----------------------------------------------------------------------------- for people

  void table(std::span<const CpuPoint> points) {
    line("time", "dispatches", "preempted", "stolen", "most of CPU", "longest", "> 10 ms");
    line_end("moved", "same chip", "same node", "elsewhere");
    while (!points.empty()) {
      size_t count = 1;
      while (count < points.size() &&
             points[count].point->interval == points.front().point->interval) {
        count++;
      }
      row(points.first(count));
      points = points.subspan(count);
    }
  }

  // ----------------------------------------------------------------------------- for programs

  void csv(std::span<const CpuPoint> points) {
    output_.put(
        "time_ns,interval_ns,cpu,dispatches,preempted,stolen_ns,longest_wait_ns,late,moved,"
        "same_chip,same_node,elsewhere\n");
    for (const auto& [point, cpu] : points) {
      output_.put(fmt::format("{},{},{},{},{},{},{},{},{},", begin_ns(*point), length(), cpu,
                              point->dispatches, point->preempted, ns(point->stolen),
                              ns(point->longest), point->late, point->moved));
      output_.put(series_.distances ? fmt::format("{},{},{}\n", point->same_chip, point->same_node,
                                                  elsewhere(*point))
                                    : ",,\n");
    }
  }

  void json(std::span<const CpuPoint> points) {
    JsonWriter json(JsonWriter::Layout::kCompact);
    for (const auto& [point, cpu] : points) {
      const auto distance = [&](uint64_t count) {
        return series_.distances ? std::optional(count) : std::nullopt;
      };
      json.begin_object();
      json.number("time_ns", begin_ns(*point));
      json.number("interval_ns", length());
      json.number("cpu", cpu);
      json.number("dispatches", point->dispatches);
      json.number("preempted", point->preempted);
      json.number("stolen_ns", ns(point->stolen));
      json.number("longest_wait_ns", ns(point->longest));
      json.number("late", point->late);
      json.number("moved", point->moved);
      json.number("same_chip", distance(point->same_chip));
      json.number("same_node", distance(point->same_node));
      json.number("elsewhere", distance(elsewhere(*point)));
      json.end_object();
      output_.put(json.take());
    }
  }

 private:
  uint64_t length() const { return series_.intervals.length_ns; }
  uint64_t begin_ns(const DtlPoint& point) const { return point.interval * length(); }
  uint64_t ns(uint64_t ticks) const { return since_.nanoseconds(ticks).value_or(0); }

  // Ticks of an interval between the first and the last of all entries.
  uint64_t recorded(uint64_t interval) const {
    const DtlClock& clock = series_.clock;
    const uint64_t begin = std::max(clock.timebase_at(interval * length()), lowest_);
    const uint64_t end = clock.timebase_at(interval * length() + length());
    return std::min(end, highest_) - std::min(begin, highest_);
  }

  // Prints all virtual processors in one interval.
  void row(std::span<const CpuPoint> points) {
    DtlPoint all;
    CpuPoint most = points.front();
    for (const CpuPoint& each : points) {
      all.add(*each.point);
      if (each.point->stolen > most.point->stolen) most = each;
    }
    const uint64_t ticks = recorded(points.front().point->interval);
    const uint64_t begin = begin_ns(*points.front().point);
    line(fmt::format("{}.{:09}", begin / kSecond, begin % kSecond),
         fmt::format("{}", all.dispatches), fmt::format("{}", all.preempted),
         share(all.stolen, ticks * series_.cpus.size()),
         fmt::format("{}: {}", most.cpu, share(most.point->stolen, ticks)),
         decimal(ns(all.longest)), fmt::format("{}", all.late));
    line_end(share(all.moved, all.dispatches), share(all.same_chip, all.dispatches),
             share(all.same_node, all.dispatches), share(elsewhere(all), all.dispatches));
  }

  template <class... Columns>
  void line(const Columns&... columns) {
    output_.put(fmt::format("{:>18}{:>12}{:>11}{:>11}{:>18}{:>14}{:>9}", columns...));
  }
  void line_end(std::string_view moved, std::string_view chip, std::string_view node,
                std::string_view away) {
    output_.put(series_.distances
                    ? fmt::format("{:>10}{:>11}{:>11}{:>11}\n", moved, chip, node, away)
                    : fmt::format("{:>10}\n", moved));
  }

  static constexpr uint64_t kSecond = 1'000'000'000;

  const DtlSeriesText& series_;
  TextOutput& output_;
  DtlClock since_;
  uint64_t lowest_ = UINT64_MAX, highest_ = 0;
};

}  // namespace

void DtlSeriesText::print(TextOutput& output, DtlFormat format) const {
  const std::vector<CpuPoint> points = by_time(*this);
  SeriesWriter writer(*this, output);
  switch (format) {
    case DtlFormat::kText:
      return writer.table(points);
    case DtlFormat::kCsv:
      return writer.csv(points);
    case DtlFormat::kJson:
      return writer.json(points);
  }
}

}  // namespace htmtrace
