// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/report/nest_report.h"

#include <fmt/core.h>

#include <memory>
#include <utility>

#include "cli/report/heat_map.h"
#include "cli/traces/nest_counting.h"
#include "core/analysis/heat_maps.h"
#include "core/analysis/nest_hot_spots.h"
#include "output/page/nest_page.h"
#include "output/report/heat_map_report.h"
#include "output/report/nest_hot_report.h"

namespace htmtrace {
namespace {

struct HotCounter {
  void begin(const ChosenTrace& trace, nest::Layout layout, const TranslationMap& map) {
    if (!spots) spots = std::make_unique<nest::HotSpots>(layout, wishes);
    spots->begin_trace(trace.short_name(), map.owners());
  }
  void seen(const nest::Command& command) { spots->seen(command); }
  void command(const nest::Event& event, const nest::Command& command,
               std::optional<LogicalAddr> la) {
    spots->command(event, command, la);
  }
  nest::HotSpots::Wishes wishes;
  std::unique_ptr<nest::HotSpots> spots = {};
};

struct HeatCounter {
  void begin(const ChosenTrace&, nest::Layout, const TranslationMap&) { commands = 0; }
  void seen(const nest::Command&) { commands++; }
  void command(const nest::Event& event, const nest::Command& command,
               std::optional<LogicalAddr> la) {
    std::optional<uint64_t> address;
    if (la) address = la->value;
    if (!logical) address = command.address;
    maps.add(address, {.instructions = commands - 1, .ticks = event.time},
             la ? la->value : HeatMap::kNoName);
  }
  HeatMaps& maps;
  bool logical = true;
  uint64_t commands =
      0;  // number of the current command, from 1; includes commands without an address
};

// For a page, which has both reports.
struct PageCounter {
  void begin(const ChosenTrace& trace, nest::Layout layout, const TranslationMap& map) {
    hot.begin(trace, layout, map);
    heat.begin(trace, layout, map);
  }
  void seen(const nest::Command& command) {
    hot.seen(command);
    heat.seen(command);
  }
  void command(const nest::Event& event, const nest::Command& command,
               std::optional<LogicalAddr> la) {
    hot.command(event, command, la);
    heat.command(event, command, la);
  }
  HotCounter& hot;
  HeatCounter& heat;
};

bool by_logical(const ReportOptions& options) {
  return options.wishes.key == DataKey::kLogical;
}

HotCounter hot_counter(const ReportOptions& options) {
  return {.wishes = {.logical = by_logical(options),
                     .units = options.wishes.units,
                     .entries = options.wishes.entries}};
}

NestHotReport hot_report(HotCounter& counter, const NestCount& count, const PageNames& names,
                         size_t top) {
  counter.spots->finish();
  return {.spots = *counter.spots,
          .totals = count.totals,
          .evidence = count.evidence,
          .names = names,
          .top = top};
}

HeatMapReport heat_report(const HeatCounter& counter, const NestCount& count, size_t traces,
                          const PageNames& names) {
  HeatMapReport report{.maps = counter.maps,
                       .totals = count.totals,
                       .traces = traces,
                       .what = "commands with an address",
                       .step = "command",
                       .kind = counter.logical ? "logical" : "real",
                       .remarks = fmt::format("bus: {}\n{}\n{}", describe(count.totals),
                                              count.evidence, describe(names))};
  report.name = [&names](const HeatMap::Row& row) {
    return row.names.lowest == HeatMap::kNoName ? "" : names.name({row.names.lowest});
  };
  return report;
}

}  // namespace

NestReportResult report_nest(const std::vector<ChosenTrace>& traces, const ReportOptions& options,
                             const PageNames& names) {
  HotCounter counter = hot_counter(options);
  const NestCount count = count_nest(traces, options.traces, counter);
  const NestHotReport report =
      hot_report(counter, count, names, options.top.value_or(ReportOptions::kTop));
  NestReportResult result{.report = {}, .totals = count.totals, .incomplete = count.incomplete};
  switch (options.format) {
    case ReportFormat::kText:
    case ReportFormat::kSvg:
    case ReportFormat::kPerfetto:
    case ReportFormat::kLcov:
    case ReportFormat::kLlvmProfile:
    case ReportFormat::kCallOrder:
    case ReportFormat::kCallgrind:
    case ReportFormat::kHtml:
      result.report = report.to_text();
      break;
    case ReportFormat::kJson:
      result.report = report.to_json();
      break;
    case ReportFormat::kCsv:
      result.report = report.to_csv();
      break;
  }
  return result;
}

NestReportResult heat_of_nest(const std::vector<ChosenTrace>& traces, const ReportOptions& options,
                              const PageNames& names) {
  HeatMaps maps(options.wishes.units.front(), options.axis);
  HeatCounter counter{.maps = maps, .logical = by_logical(options)};
  const NestCount count = count_nest(traces, options.traces, counter);
  HeatMapReport report = heat_report(counter, count, traces.size(), names);
  return {.report = print_heat(report, options),
          .totals = count.totals,
          .incomplete = count.incomplete};
}

NestReportResult page_of_nest(const std::vector<ChosenTrace>& traces, const ReportOptions& options,
                              const PageNames& names, PageHead head) {
  HotCounter hot = hot_counter(options);
  HeatMaps maps(options.wishes.units.back(), options.axis);
  HeatCounter heat{.maps = maps, .logical = by_logical(options)};
  PageCounter counter{.hot = hot, .heat = heat};
  const NestCount count = count_nest(traces, options.traces, counter);
  const NestHotReport tables =
      hot_report(hot, count, names, options.top.value_or(ReportOptions::kPageTop));
  HeatMapReport map = heat_report(heat, count, traces.size(), names);
  add_basis(map);
  head.incomplete = count.incomplete;
  const NestPage page{.head = std::move(head), .hot = tables, .heat = map};
  return {.report = page.to_html(), .totals = count.totals, .incomplete = count.incomplete};
}

}  // namespace htmtrace
