// SPDX-License-Identifier: GPL-2.0-or-later
// htmtrace diff: compares two traces.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/help.h"
#include "cli/messages.h"
#include "cli/number_from.h"
#include "cli/one_of.h"
#include "cli/report/options.h"
#include "cli/terminal.h"
#include "cli/traces/choice.h"
#include "cli/traces/context.h"
#include "cli/traces/core_reading.h"
#include "cli/traces/nest_counting.h"
#include "core/analysis/nest_profile.h"
#include "core/base/error.h"
#include "output/io/text_output.h"
#include "output/report/colors.h"
#include "output/report/core_diff.h"
#include "output/report/diff_report.h"
#include "output/report/nest_diff.h"

namespace htmtrace {
namespace {

struct DiffOptions {
  TraceOptions traces;
  std::vector<std::string> units = {"128", "64K"};
  std::vector<uint64_t> unit_bytes;
  std::optional<DataKey> key;
  SymbolOptions symbols;
  size_t entries = 1 << 16;
  size_t top = 20;
  ReportFormat format = ReportFormat::kText;
  TerminalOptions terminal;
};

struct NestSide {
  void begin(const ChosenTrace&, nest::Layout layout, const TranslationMap&) {
    if (!profile) profile = std::make_unique<nest::Profile>(layout, wishes);
  }
  void seen(const nest::Command& command) { profile->seen(command); }
  void command(const nest::Event& event, const nest::Command& command,
               std::optional<LogicalAddr> la) {
    profile->command(event, command, la);
  }
  nest::HotSpots::Wishes wishes;
  std::unique_ptr<nest::Profile> profile = {};
};

class Diff {
 public:
  explicit Diff(const DiffOptions& options) : options_(options) {}

  int run(bool color, Pager& pager) {
    std::optional<ScratchFile> spools[2];
    std::vector<ChosenTrace> sides[2];
    DiffReport report;
    for (size_t i = 0; i < 2; i++) {
      DiffSide& side = i == 0 ? report.before : report.after;
      side.name = options_.traces.paths[i];
      sides[i] = choose_traces({side.name}, options_.traces.filter, spools[i]);
      side.traces = sides[i].size();
    }
    const bool nest = all_of_nest(sides[0], options_.traces.context);
    if (nest != all_of_nest(sides[1], options_.traces.context)) {
      throw Error(
          fmt::format("cannot compare {} with {}: one has core traces, the other nest traces",
                      report.before.name, report.after.name))
          .hint("select traces with --node, --chip and --core, or pass --type");
    }
    TextOutput output = open_output(options_.traces, files_of(options_.symbols));
    nest ? buses(sides, report) : cores(sides, report);
    report.top = options_.top;
    output.put(color                                    ? colored(report.to_text())
               : options_.format == ReportFormat::kText ? report.to_text()
               : options_.format == ReportFormat::kJson ? report.to_json()
                                                        : report.to_csv());
    output.finish();
    pager.wait();
    if (output.reader_gone()) return kExitDone;
    std::vector<ChosenTrace> both = std::move(sides[0]);
    std::ranges::move(sides[1], std::back_inserter(both));
    incomplete_ |= tell_missing(both, options_.traces.context);
    for (const DiffSide* side : {&report.before, &report.after}) {
      print_note(fmt::format("{}: {}", side->name, describe(side->totals)));
    }
    return incomplete_ ? kExitIncomplete : kExitDone;
  }

 private:
  void cores(const std::vector<ChosenTrace> (&sides)[2], DiffReport& report) {
    std::unique_ptr<TraceNames> names[2];
    std::unique_ptr<HotSpots> spots[2];
    for (size_t i = 0; i < 2; i++) {
      DiffSide& side = i == 0 ? report.before : report.after;
      names[i] = std::make_unique<TraceNames>(options_.symbols, options_.traces,
                                              std::vector<std::string>{side.name});
      // Effective by default: a program's memory has other logical addresses in each run.
      spots[i] = std::make_unique<HotSpots>(
          HotSpots::Wishes{.key = options_.key.value_or(DataKey::kEffective),
                           .units = options_.unit_bytes,
                           .entries = options_.entries},
          names[i]->symbols());
      side.totals = no_totals(options_.traces);
      for (const ChosenTrace& trace : sides[i]) {
        const NameSelection* const selected = names[i]->enter(trace);
        if (read_core(trace, options_.traces, selected, *spots[i], side.totals)) incomplete_ = true;
      }
      spots[i]->finish();
    }
    report.what = "instructions";
    report.tables =
        compare_cores({.spots = *spots[0], .mappings = load_mapping_names(report.before.name)},
                      {.spots = *spots[1], .mappings = load_mapping_names(report.after.name)});
  }

  void buses(const std::vector<ChosenTrace> (&sides)[2], DiffReport& report) {
    if (options_.key == DataKey::kEffective) {
      throw Error("cannot compare by effective address: nest traces have no effective addresses");
    }
    std::unique_ptr<nest::Profile> profiles[2];
    std::unique_ptr<RecordedSymbols> symbols[2];
    std::unique_ptr<PageNames> names[2];
    for (size_t i = 0; i < 2; i++) {
      const std::vector<std::string> path = {options_.traces.paths[i]};
      symbols[i] = std::make_unique<RecordedSymbols>(options_.symbols, path);
      names[i] =
          std::make_unique<PageNames>(load_page_names(options_.symbols, path, symbols[i]->table()));
      NestSide side{.wishes = {.logical = options_.key != DataKey::kReal,
                               .units = options_.unit_bytes,
                               .entries = options_.entries}};
      const NestCount count = count_nest(sides[i], options_.traces, side);
      side.profile->finish();
      (i == 0 ? report.before : report.after).totals = count.totals;
      incomplete_ |= count.incomplete;
      profiles[i] = std::move(side.profile);
    }
    report.what = "commands";
    report.tables = compare_nests({*profiles[0], *names[0]}, {*profiles[1], *names[1]});
  }

  const DiffOptions& options_;
  bool incomplete_ = false;
};

void declare_options(CLI::App& app, DiffOptions& options) {
  declare_traces(app, options.traces);
  app.get_option("PATH")
      ->expected(2)
      ->required()
      ->description("Two trace files or recording folders")
      ->type_name("BEFORE AFTER");
  static const std::map<std::string, DataKey> keys = {
      {"logical", DataKey::kLogical}, {"real", DataKey::kReal}, {"effective", DataKey::kEffective}};
  app.option_defaults()->group(kReportGroup);
  app.add_option("--address", options.key,
                 "Data addresses: logical, real, effective [effective; nest traces: logical]")
      ->transform(one_of(keys))
      ->type_name("KIND");
  app.add_option("--unit", options.units, "Unit of data addresses, one table each [128,64K]")
      ->type_name("SIZE,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->default_str("");
  app.add_option("--top", options.top, "Lines per table [20]")
      ->check(number_from(0))
      ->type_name("N")
      ->default_str("");
  app.add_option("--entries", options.entries, "Addresses that a table keeps in memory [65536]")
      ->type_name("N")
      ->check(CLI::Range(size_t{16}, size_t{1} << 28).description(""))
      ->default_str("");
  declare_symbols(app, options.symbols);
  app.option_defaults()->group(kOutputGroup);
  static const std::map<std::string, ReportFormat> formats = {
      {"text", ReportFormat::kText}, {"json", ReportFormat::kJson}, {"csv", ReportFormat::kCsv}};
  app.add_option("--format", options.format, "Format: text, json, csv [text]")
      ->transform(one_of(formats))
      ->type_name("FORMAT")
      ->default_str("");
  declare_color(app, options.terminal);
  declare_threads(app, options.traces);
  declare_pager(app, options.terminal);
}

void check(DiffOptions& options) {
  options.unit_bytes = parse_units(options.units);
  check(options.symbols);
}

}  // namespace

Action declare_diff(CLI::App& app) {
  auto options = std::make_shared<DiffOptions>();
  declare_options(app, *options);
  set_common_options(app, {"--output", "--format", "--top", "--address", "--unit"});
  app.footer(
      "Example:\n"
      "  htmtrace diff BEFORE AFTER");
  app.parse_complete_callback([options] { check(*options); });
  return [options] {
    const bool screen = options->format == ReportFormat::kText && options->traces.output.empty();
    const bool color = screen && wants_color(options->terminal, STDOUT_FILENO);
    Pager pager(screen && !options->terminal.no_pager);
    confine(options->traces, inputs_of(options->symbols, options->traces.paths));
    return Diff(*options).run(color, pager);
  };
}

}  // namespace htmtrace
