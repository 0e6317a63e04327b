// SPDX-License-Identifier: GPL-2.0-or-later
// htmtrace report: what is hot in traces.
#include <fmt/core.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/core_reading.h"
#include "cli/dispatch_log.h"
#include "cli/heat_options.h"
#include "cli/messages.h"
#include "cli/nest_inferred.h"
#include "cli/nest_report.h"
#include "cli/report_options.h"
#include "cli/stream_choice.h"
#include "cli/trace_choice.h"
#include "cli/trace_context.h"
#include "core/call_stacks.h"
#include "core/error.h"
#include "core/heat_maps.h"
#include "core/hot_blocks.h"
#include "output/call_timeline.h"
#include "output/hot_blocks_report.h"
#include "output/hot_spots_report.h"
#include "output/report_parts.h"
#include "output/text_output.h"
#include "output/timeline_report.h"

namespace htmtrace {
namespace {

class Report {
 public:
  explicit Report(const ReportOptions& options)
      : options_(options), symbols_(load_symbols(options.symbols, options.traces.paths)) {}

  int run() {
    Spool spool;
    const std::vector<ChosenTrace> traces =
        choose_traces(options_.traces.paths, options_.traces.filter, spool);
    TextOutput output = open_output(options_.traces, files_of(options_.symbols));
    const bool nest = all_of_nest(traces, options_.traces.context);
    if (nest) {
      output.put(bus(traces));
    } else if (options_.stacks) {
      call_stacks(traces, output);
    } else if (options_.format == ReportFormat::kPerfetto) {
      call_timeline(traces, output);
    } else {
      output.put(cores(traces));
    }
    output.finish();
    if (output.reader_gone()) return kExitDone;
    incomplete_ |= tell_missing(traces, options_.traces.context);
    print_note(describe(totals_));
    return incomplete_ ? kExitIncomplete : kExitDone;
  }

 private:
  std::string bus(const std::vector<ChosenTrace>& traces) {
    if (options_.stacks) throw Error("cannot follow calls: nest traces have none");
    if (options_.timeline) {
      throw Error("cannot make a timeline: nest traces have no instructions")
          .hint("--heat-map tells when which addresses were asked for");
    }
    if (options_.blocks) throw Error("cannot follow control: nest traces have no instructions");
    if (options_.wishes.key == DataKey::kEffective) {
      throw Error("cannot report by effective address: nest traces have none");
    }
    const PageNames names = load_page_names(options_.symbols, options_.traces.paths, symbols_);
    NestReportResult result = options_.infer_address ? report_inferred(traces, options_, names)
                              : options_.heat_map    ? heat_of_nest(traces, options_, names)
                                                     : report_nest(traces, options_, names);
    totals_ = result.totals;
    incomplete_ |= result.incomplete;
    return std::move(result.report);
  }

  void call_stacks(const std::vector<ChosenTrace>& traces, TextOutput& output) {
    refuse_inference();
    CallStacks stacks(symbols_);
    for (const ChosenTrace& trace : traces) {
      stacks.begin_trace();
      read(trace, stacks);
    }
    tell(stacks);
    stacks.tree().fold([&output](std::string_view text) { output.put(text); });
  }

  static void tell(const CallStacks& stacks) {
    print_note(fmt::format("call stacks: {} lost, {} cut, {} instructions left out",
                           stacks.restarts(), stacks.cut(), stacks.unknown()));
  }

  // As many windows as a person looks at, or a program.
  std::string timeline(const std::vector<ChosenTrace>& traces) {
    const size_t windows = options_.format == ReportFormat::kText ? 64 : 4096;
    std::vector<TimelineReport::Trace> all;
    for (const ChosenTrace& trace : traces) {
      all.push_back({.name = trace.describe(), .timeline = Timeline(windows)});
      read(trace, all.back().timeline);
    }
    return printed(TimelineReport{.traces = all, .totals = totals_});
  }

  void call_timeline(const std::vector<ChosenTrace>& traces, TextOutput& output) {
    CallTimeline timeline(output, symbols_);
    for (const ChosenTrace& trace : traces) {
      timeline.begin_trace(trace.describe());
      read(trace, timeline);
      timeline.end_trace();
      if (!timeline.full_from()) continue;
      incomplete_ = true;
      print_warning(fmt::format(
          "{}: no functions from instruction {} on: no viewer loads more than 1 GB; choose a part "
          "with --instructions",
          trace.name(), *timeline.full_from()));
    }
    timeline.finish();
    tell(timeline.stacks());
  }

  std::string hot_blocks(const std::vector<ChosenTrace>& traces) {
    HotBlocks blocks(options_.wishes.entries, symbols_);
    for (const ChosenTrace& trace : traces) {
      read(trace, blocks);
      blocks.skipped();
    }
    const HotBlocksReport report{.blocks = blocks,
                                 .symbols = symbols_,
                                 .totals = totals_,
                                 .traces = traces.size(),
                                 .top = options_.top.value_or(ReportOptions::kTop)};
    return printed(report);
  }

  std::string heat_map(const std::vector<ChosenTrace>& traces) {
    HeatMaps maps(options_.wishes.units.front(), options_.axis);
    for (const ChosenTrace& trace : traces) {
      DataHeat heat(maps, options_.wishes.key, symbols_);
      read(trace, heat);
    }
    HeatMapReport report{
        .maps = maps,
        .totals = totals_,
        .traces = traces.size(),
        .what = "data accesses",
        .kind = key_name(options_.wishes.key),
        .remarks = fmt::format("{} traces: {}\n", traces.size(), describe(totals_))};
    report.name = [this](const HeatMap::Row& row) {
      if (row.lowest_name == HeatMap::kNoName) return std::string();
      return range_name(symbols_, row.lowest_name, row.highest_name);
    };
    return print_heat(report, options_);
  }

  void refuse_inference() const {
    if (!options_.infer_address) return;
    throw Error("cannot infer addresses: core traces tell them")
        .hint("if these are nest traces, say so: --type nest");
  }

  std::string cores(const std::vector<ChosenTrace>& traces) {
    refuse_inference();
    if (options_.blocks) return hot_blocks(traces);
    if (options_.heat_map) return heat_map(traces);
    if (options_.timeline) return timeline(traces);
    HotSpots::Wishes wishes = options_.wishes;
    wishes.walks = true;
    HotSpots spots(wishes, symbols_);
    for (const ChosenTrace& trace : traces) read(trace, spots);
    const HotSpotsReport report{.spots = spots,
                                .totals = totals_,
                                .traces = traces.size(),
                                .top = options_.top.value_or(ReportOptions::kTop)};
    return printed(report);
  }

  template <class Printable>
  std::string printed(const Printable& report) const {
    if (options_.format == ReportFormat::kText) return report.to_text();
    return options_.format == ReportFormat::kJson ? report.to_json() : report.to_csv();
  }

  template <class Next>
  void read(const ChosenTrace& trace, Next& next) {
    if (read_core(trace, options_.traces, next, totals_)) incomplete_ = true;
  }

  const ReportOptions& options_;
  SymbolTable symbols_;
  DecodeTotals totals_;
  bool incomplete_ = false;
};

}  // namespace

Action declare_report(CLI::App& app) {
  auto options = std::make_shared<ReportOptions>();
  declare_options(app, *options);
  app.footer(
      "Which addresses are hot, and which code touches them. See htmtrace-report(1).\n"
      "Exit status: 0 done, 1 failed, 2 usage, 3 something was lost or could not be decoded.");
  app.parse_complete_callback([&app, options] { check(app, *options); });
  return [&app, options] {
    if (is_one_dispatch_log(options->traces.paths)) return report_dispatch_log(app, *options);
    return Report(*options).run();
  };
}

}  // namespace htmtrace
