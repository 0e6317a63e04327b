// SPDX-License-Identifier: GPL-2.0-or-later
// htmtrace report: hot instructions and data.
#include <fmt/core.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/dispatches/replay_options.h"
#include "cli/help.h"
#include "cli/messages.h"
#include "cli/report/callgrind.h"
#include "cli/report/dispatches.h"
#include "cli/report/edge_report.h"
#include "cli/report/heat_map.h"
#include "cli/report/nest_inferred.h"
#include "cli/report/nest_report.h"
#include "cli/report/options.h"
#include "cli/report/page.h"
#include "cli/terminal.h"
#include "cli/traces/choice.h"
#include "cli/traces/context.h"
#include "cli/traces/core_reading.h"
#include "core/analysis/address_counts.h"
#include "core/analysis/heat_maps.h"
#include "core/analysis/hot_blocks.h"
#include "core/analysis/passages.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/call_stacks/call_graph.h"
#include "core/call_stacks/call_stacks.h"
#include "core/call_stacks/stack_tree.h"
#include "output/export/call_timeline.h"
#include "output/io/text_output.h"
#include "output/page/core_page.h"
#include "output/report/call_tree_report.h"
#include "output/report/colors.h"
#include "output/report/hot_blocks_report.h"
#include "output/report/hot_spots_report.h"
#include "output/report/parts.h"
#include "output/report/passages_report.h"
#include "output/report/timeline_report.h"
#include "output/source_report/line_report.h"
#include "output/symbols/cycle_model.h"

namespace htmtrace {
namespace {

// Stacks in the flame graph of a page.
constexpr size_t kFrames = 1000;

class Report {
 public:
  // `model` is null if the user did not request predictions.
  Report(const ReportOptions& options, CycleModel* model)
      : options_(options), model_(model), names_(options.symbols, options.traces) {
    if (options.by_line || options.inlined) lines_ = open_lines(symbols_, options.lines);
  }

  int run(Pager& pager) {
    std::optional<ScratchFile> spool;
    const std::vector<ChosenTrace> traces =
        choose_traces(options_.traces.paths, options_.traces.filter, spool);
    TextOutput output = open_output(options_.traces, files_of(options_.symbols));
    const bool nest = all_of_nest(traces, options_.traces.context);
    if (nest) {
      output.put(shown(bus(traces)));
    } else if (options_.is_callgrind()) {
      callgrind_file(traces, output);
    } else if (options_.follows_calls()) {
      call_stacks(traces, output);
    } else if (options_.format == ReportFormat::kPerfetto) {
      call_timeline(traces, output);
    } else if (options_.counts_edges()) {
      edges(traces, output);
    } else {
      output.put(shown(cores(traces)));
    }
    output.finish();
    pager.wait();
    if (output.reader_gone() && !options_.traces.counts_for_status()) return kExitDone;
    if (lines_) warn_of_lines(lines_->problems());
    incomplete_ |= tell_missing(traces, options_.traces.context);
    if (incomplete_ && options_.counts_edges()) {
      print_warning("the traces are incomplete: the counts are not exact");
    }
    note(describe(totals_));
    return exit_status(options_.traces, totals_, incomplete_);
  }

 private:
  std::string bus(const std::vector<ChosenTrace>& traces) {
    if (options_.follows_calls())
      throw Error("cannot report call stacks: nest traces have no instructions");
    if (options_.timeline) {
      throw Error("cannot make a timeline: nest traces have no instructions")
          .hint("use --heat-map to see when each address was accessed");
    }
    if (!options_.between.empty()) {
      throw Error("cannot report passages: nest traces have no instructions");
    }
    if (options_.blocks)
      throw Error("cannot report basic blocks: nest traces have no instructions");
    if (options_.is_for_compilers())
      throw Error("cannot write a profile: nest traces have no instructions");
    if (options_.is_lcov()) throw Error("cannot report coverage: nest traces have no instructions");
    if (options_.by_line)
      throw Error("cannot report source lines: nest traces have no instructions");
    if (options_.wishes.processes)
      throw Error("cannot report processes: nest traces have no instructions");
    if (options_.wishes.key == DataKey::kEffective) {
      throw Error("cannot report by effective address: nest traces have no effective addresses");
    }
    const PageNames names = load_page_names(options_.symbols, options_.traces.paths, symbols_);
    NestReportResult result =
        is_page() ? page_of_nest(traces, options_, names, page_head(traces, options_))
        : options_.infer_address ? report_inferred(traces, options_, names)
        : options_.heat_map      ? heat_of_nest(traces, options_, names)
                                 : report_nest(traces, options_, names);
    totals_ = result.totals;
    incomplete_ |= result.incomplete;
    return std::move(result.report);
  }

  void call_stacks(const std::vector<ChosenTrace>& traces, TextOutput& output) {
    refuse_inference();
    CallStacks stacks = new_stacks();
    for (const ChosenTrace& trace : traces) {
      stacks.begin_trace();
      read(trace, stacks);
    }
    const bool text = options_.calls && options_.format == ReportFormat::kText;
    if (!text) note(describe(stacks));  // the text of a call tree states it
    if (options_.stacks) {
      return StackTree(stacks.tree()).fold([&output](std::string_view line) { output.put(line); });
    }
    const CallTreeReport report = call_tree(
        stacks, traces.size(), text ? CallTreeReport::kTextStacks : CallTreeReport::kFileStacks);
    output.put(text                                     ? shown(report.to_text())
               : options_.format == ReportFormat::kJson ? report.to_json()
                                                        : report.to_svg());
  }

  CallStacks new_stacks() const {
    return CallStacks(symbols_, CallTree::Detail::kFunctions,
                      options_.inlined ? inlined_by(*lines_) : FindInlined());
  }

  void edges(const std::vector<ChosenTrace>& traces, TextOutput& output) {
    refuse_inference();
    EdgeReport report(options_, symbols_);
    for (const ChosenTrace& trace : traces) {
      read(trace, report.edges());
      report.edges().end_trace();
    }
    report.put(output);
  }

  void callgrind_file(const std::vector<ChosenTrace>& traces, TextOutput& output) {
    refuse_inference();
    CallGraph graph(symbols_);
    for (const ChosenTrace& trace : traces) {
      graph.begin_trace();
      read(trace, graph);
      graph.end_trace();
    }
    note(describe(graph.stacks()));
    put_callgrind(graph, symbols_, options_, traces.size(), output);
  }

  CallTreeReport call_tree(const CallStacks& stacks, size_t traces, size_t most) const {
    CallTreeReport report(stacks, options_.top.value_or(most));
    report.totals = totals_;
    report.traces = traces;
    return report;
  }

  // A fact about a report without errors, which --quiet omits.
  void note(const std::string& text) const {
    if (!options_.traces.quiet) print_note(text);
  }

  std::string shown(std::string text) const { return options_.color ? colored(text) : text; }

  bool is_page() const { return options_.format == ReportFormat::kHtml; }

  std::string page(const std::vector<ChosenTrace>& traces) {
    constexpr size_t kWindows = 128;
    constexpr size_t kRows = 32;
    HotSpots spots(wishes(), symbols_);
    CallStacks stacks = new_stacks();
    HeatMaps maps(options_.wishes.units.back(), options_.axis);
    std::vector<TimelineReport::Trace> timelines;
    for (const ChosenTrace& trace : traces) {
      timelines.push_back({.name = trace.describe(), .timeline = Timeline(kWindows)});
      DataHeat heat(maps, options_.wishes.key, symbols_);
      PageSink sink(spots, stacks, heat, timelines.back().timeline);
      read(trace, sink);
      heat.finish();
    }
    spots.finish();
    HeatMapReport map = heat_report(maps, traces.size());
    map.top = kRows;
    add_basis(map);
    PageHead head = page_head(traces, options_);
    head.incomplete = incomplete_;
    const CorePage page{.head = std::move(head),
                        .hot = {.spots = spots,
                                .totals = totals_,
                                .traces = traces.size(),
                                .top = options_.top.value_or(ReportOptions::kPageTop)},
                        .calls = call_tree(stacks, traces.size(), kFrames),
                        .heat = map,
                        .timelines = timelines};
    return page.to_html();
  }

  // Text has as many windows as a reader can scan; programs get more.
  std::string timeline(const std::vector<ChosenTrace>& traces) {
    const size_t windows = options_.format == ReportFormat::kText ? 64 : 4096;
    std::vector<TimelineReport::Trace> all;
    for (const ChosenTrace& trace : traces) {
      all.push_back({.name = trace.describe(), .timeline = Timeline(windows)});
      read(trace, all.back().timeline);
      all.back().timeline.finish();
    }
    return printed(TimelineReport{.traces = all, .totals = totals_});
  }

  void call_timeline(const std::vector<ChosenTrace>& traces, TextOutput& output) {
    CallTimeline timeline(output, new_stacks());
    for (const ChosenTrace& trace : traces) {
      timeline.begin_trace(trace.describe());
      read(trace, timeline);
      timeline.end_trace();
      if (!timeline.full_from()) continue;
      incomplete_ = true;
      print_warning(
          fmt::format("{}: the timeline ends at instruction {}, at 1 GB, which viewers can load; "
                      "choose a part with --instructions",
                      trace.name(), *timeline.full_from()));
    }
    timeline.finish();
    note(describe(timeline.stacks()));
  }

  std::string hot_blocks(const std::vector<ChosenTrace>& traces) {
    HotBlocks blocks(options_.wishes.entries, symbols_);
    for (const ChosenTrace& trace : traces) {
      read(trace, blocks);
      blocks.end_trace();
    }
    const HotBlocksReport report{.blocks = blocks,
                                 .symbols = symbols_,
                                 .lines = lines_.get(),
                                 .totals = totals_,
                                 .traces = traces.size(),
                                 .top = options_.top.value_or(ReportOptions::kTop),
                                 .model = model_};
    return printed(report);
  }

  std::string hot_lines(const std::vector<ChosenTrace>& traces) {
    AddressCounts counts(options_.wishes.entries, symbols_);
    for (const ChosenTrace& trace : traces) {
      read(trace, counts);
      counts.end_trace();
    }
    const LineReport report{.counts = counts,
                            .symbols = symbols_,
                            .lines = *lines_,
                            .totals = totals_,
                            .traces = traces.size(),
                            .top = options_.top.value_or(ReportOptions::kTop)};
    return printed(report);
  }

  std::string passages(const std::vector<ChosenTrace>& traces) {
    const auto [first, last] = split_names(options_.between, symbols_);
    const CodePlace from = resolve_place(first, "--between", symbols_, options_.traces.quiet);
    const CodePlace to = resolve_place(last, "--between", symbols_, options_.traces.quiet);
    Passages passages(symbols_, from, to);
    for (const ChosenTrace& trace : traces) {
      read(trace, passages);
      passages.end_trace();
    }
    const PassagesReport report{.passages = passages,
                                .from = first,
                                .to = last,
                                .totals = totals_,
                                .traces = traces.size()};
    return options_.format == ReportFormat::kText ? report.to_text() : report.to_json();
  }

  std::string heat_map(const std::vector<ChosenTrace>& traces) {
    HeatMaps maps(options_.wishes.units.front(), options_.axis);
    for (const ChosenTrace& trace : traces) {
      DataHeat heat(maps, options_.wishes.key, symbols_);
      read(trace, heat);
      heat.finish();
    }
    HeatMapReport report = heat_report(maps, traces.size());
    return print_heat(report, options_);
  }

  HeatMapReport heat_report(const HeatMaps& maps, size_t traces) const {
    HeatMapReport report{
        .maps = maps,
        .totals = totals_,
        .traces = traces,
        .what = "data accesses",
        .step = "instruction",
        .kind = key_name(options_.wishes.key),
        .remarks = fmt::format("{}: {}\n", counted(traces, "trace"), describe(totals_))};
    report.name = [this](const HeatMap::Row& row) {
      if (row.names.lowest == HeatMap::kNoName) return std::string();
      return range_name(symbols_, row.names.lowest, row.names.highest);
    };
    return report;
  }

  void refuse_inference() const {
    if (!options_.infer_address) return;
    throw Error("cannot infer addresses: core traces contain their addresses")
        .hint("to read them as nest traces, pass --type nest");
  }

  std::string cores(const std::vector<ChosenTrace>& traces) {
    refuse_inference();
    if (!options_.between.empty()) return passages(traces);
    if (options_.blocks) return hot_blocks(traces);
    if (options_.by_line) return hot_lines(traces);
    if (options_.heat_map) return heat_map(traces);
    if (options_.timeline) return timeline(traces);
    if (is_page()) return page(traces);
    HotSpots spots(wishes(), symbols_);
    for (const ChosenTrace& trace : traces) read(trace, spots);
    spots.finish();
    const HotSpotsReport report{.spots = spots,
                                .totals = totals_,
                                .traces = traces.size(),
                                .top = options_.top.value_or(ReportOptions::kTop)};
    return printed(report);
  }

  HotSpots::Wishes wishes() const {
    HotSpots::Wishes wishes = options_.wishes;
    wishes.walks = true;
    return wishes;
  }

  template <class Printable>
  std::string printed(const Printable& report) const {
    if (options_.format == ReportFormat::kText) return report.to_text();
    return options_.format == ReportFormat::kJson ? report.to_json() : report.to_csv();
  }

  template <class Next>
  void read(const ChosenTrace& trace, Next& next) {
    if (read_core(trace, options_.traces, names_.enter(trace), next, totals_)) incomplete_ = true;
  }

  const ReportOptions& options_;
  CycleModel* model_;
  TraceNames names_;
  const SymbolTable& symbols_ = names_.symbols();
  std::unique_ptr<SourceFiles> lines_;  // with --lines or --inlined
  DecodeTotals totals_ = no_totals(options_.traces);
  bool incomplete_ = false;
};

}  // namespace

Action declare_report(CLI::App& app) {
  auto options = std::make_shared<ReportOptions>();
  declare_options(app, *options);
  set_common_options(app, {"--output", "--format", "--top", "--heat-map", "--stacks"});
  app.footer(
      "Example:\n"
      "  htmtrace report --top 10 DIR");
  app.parse_complete_callback([&app, options] { check(app, *options); });
  return [&app, options] {
    const bool text = options->format == ReportFormat::kText;
    const bool screen = text && options->traces.output.empty();
    options->color = screen && wants_color(options->terminal, STDOUT_FILENO);
    if (screen) options->columns = terminal_columns();
    Pager pager(screen && !options->terminal.no_pager);
    std::optional<CycleModel> model;
    if (options->predict_cycles) model.emplace();
    std::vector<std::string> inputs = inputs_of(options->symbols, options->traces.paths);
    if (options->has_lines()) add_debug_inputs(options->lines, inputs);
    confine(options->traces, inputs);
    if (is_one_dispatch_log(options->traces.paths)) {
      pager.wait();  // the report and its messages belong together
      return report_dispatch_log(app, *options);
    }
    return Report(*options, model ? &*model : nullptr).run(pager);
  };
}

}  // namespace htmtrace
