// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/report/options.h"

#include <bit>
#include <initializer_list>
#include <map>
#include <string>

#include "cli/help.h"
#include "cli/not_empty.h"
#include "cli/number_from.h"
#include "cli/one_of.h"
#include "cli/units.h"

namespace htmtrace {
namespace {

void reject(bool wish, const char* option, const std::string& why) {
  if (wish) throw CLI::ValidationError(option, why);
}

void declare_tables(CLI::App& app, ReportOptions& options) {
  app.option_defaults()->group(kReportGroup);
  declare_address(app, options.wishes.key);
  app.add_option("--unit", options.units, "Unit of data addresses [128,64K; heat map 64K]")
      ->type_name("SIZE,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->default_str("");
  app.add_option("--top", options.top, "Lines per table [20; heat map 32, calls 60, HTML 200]")
      ->type_name("N")
      ->check(number_from(0))
      ->default_str("");
  app.add_option("--entries", options.wishes.entries,
                 "Addresses that a table keeps in memory [65536]")
      ->type_name("N")
      ->check(CLI::Range(size_t{16}, size_t{1} << 28).description(""))
      ->default_str("");
  app.add_flag("--stacks", options.stacks, "Report folded call stacks");
  app.add_flag("--calls", options.calls, "Report the call tree; as svg, a flame graph");
  app.add_flag("--inlined", options.inlined, "Add inlined functions to the call stacks");
  app.add_flag("--blocks", options.blocks, "Report hot basic blocks and their successors");
  app.add_flag("--mca", options.predict_cycles, "Predict the cycles of the blocks with llvm-mca");
  app.add_flag("--lines", options.by_line,
               "Report hot source lines; with --blocks, lines of blocks");
  app.add_flag("--heat-map", options.heat_map, "Report when each address was accessed");
  app.add_flag("--timeline", options.timeline, "Report ticks, privileges and losses over time");
  app.add_option("--between", options.between, "Report the passages from function FROM to TO")
      ->type_name("FROM,TO");
  app.add_flag("--processes", options.wishes.processes, "Add a table of the processes");
  app.add_flag("--infer-address", options.infer_address,
               "Find the address field of an unknown nest layout");
  static const std::map<std::string, HeatAxis> axes = {{"ticks", HeatAxis::kTicks},
                                                       {"events", HeatAxis::kEvents}};
  app.add_option("--over", options.axis, "Heat map axis: ticks, events [ticks if available]")
      ->transform(one_of(axes))
      ->type_name("AXIS")
      ->default_str("");
}

// Rejects the `others` options together with the option `kind`.
void check_alone(const CLI::App& app, const char* kind, std::initializer_list<const char*> others) {
  for (const char* const other : others) {
    reject(app.count(other) != 0, other, std::string("cannot be used with ") + kind);
  }
}

void check_calls(const CLI::App& app, const ReportOptions& options) {
  check_alone(app, "--calls",
              {"--stacks", "--blocks", "--heat-map", "--timeline", "--between", "--infer-address",
               "--last", "--html"});
  reject(options.format == ReportFormat::kCsv || options.format == ReportFormat::kPerfetto,
         "--format", "--calls prints text, json, svg or callgrind");
  reject(options.is_callgrind() && options.top.has_value(), "--top",
         "cannot be used with --format callgrind: the file has all functions");
}

void check_html(const CLI::App& app) {
  check_alone(app, "--html",
              {"--stacks", "--calls", "--blocks", "--heat-map", "--timeline", "--between",
               "--infer-address", "--last", "--format", "--output"});
}

void check_stacks(const ReportOptions& options) {
  reject(options.format != ReportFormat::kText, "--stacks", "folded stacks are text only");
  reject(options.traces.selection.last != Selection::kAny, "--stacks",
         "cannot be used with --last");
  reject(options.heat_map, "--stacks", "cannot be used with --heat-map");
}

void check_timeline(const ReportOptions& options) {
  reject(options.format == ReportFormat::kSvg, "--format",
         "--timeline cannot be svg; use perfetto");
  reject(options.traces.selection.last != Selection::kAny, "--timeline",
         "cannot be used with --last");
  reject(options.heat_map, "--timeline", "cannot be used with --heat-map");
  reject(options.stacks, "--timeline", "cannot be used with --stacks: --format perfetto has them");
  reject(options.infer_address, "--timeline", "cannot be used with --infer-address");
}

void check_blocks(const ReportOptions& options) {
  reject(options.stacks, "--stacks", "cannot be used with --blocks");
  reject(options.heat_map, "--heat-map", "cannot be used with --blocks");
  reject(options.timeline, "--timeline", "cannot be used with --blocks");
  reject(options.infer_address, "--infer-address", "cannot be used with --blocks");
  reject(options.format == ReportFormat::kSvg, "--format", "hot blocks are text, json or csv");
  reject(options.traces.selection.last != Selection::kAny, "--blocks",
         "cannot be used with --last");
}

void check_lines(const CLI::App& app, const ReportOptions& options) {
  if (!options.blocks) {
    check_alone(app, "--lines",
                {"--stacks", "--calls", "--heat-map", "--timeline", "--between", "--infer-address",
                 "--html", "--last", "--address", "--unit"});
  }
  reject(options.format == ReportFormat::kSvg || options.format == ReportFormat::kPerfetto,
         "--format", "hot lines are text, json or csv");
}

// A format that is a separate report accepts no options of other reports.
void check_format(const CLI::App& app, const char* format) {
  check_alone(app, format,
              {"--stacks", "--calls", "--blocks", "--lines", "--heat-map", "--timeline",
               "--between", "--infer-address", "--last", "--every", "--class", "--address",
               "--unit", "--top", "--entries"});
}

void check_between(const CLI::App& app, const ReportOptions& options) {
  for (const char* const other : {"--stacks", "--blocks", "--heat-map", "--timeline",
                                  "--infer-address", "--address", "--unit", "--top", "--last"}) {
    reject(app.count(other) != 0, other, "cannot be used with --between");
  }
  reject(options.format != ReportFormat::kText && options.format != ReportFormat::kJson, "--format",
         "--between prints text or json");
  const size_t comma = options.between.find(',');
  reject(comma == 0 || comma >= options.between.size() - 1, "--between",
         "requires two functions: FROM,TO");
}

void check_inferred(const ReportOptions& options) {
  const Selection& s = options.traces.selection;
  reject(options.format != ReportFormat::kText, "--format",
         "--infer-address requires --format text");
  reject(options.heat_map, "--heat-map", "cannot be used with --infer-address");
  reject(options.stacks, "--stacks", "cannot be used with --infer-address");
  reject(!s.ra.empty() || !s.la.empty() || !options.traces.nest.commands.empty(), "--infer-address",
         "cannot be used with --ra, --la and --command");
  reject(options.traces.exit_code, "--exit-code", "cannot be used with --infer-address");
  reject(options.traces.nest.layout.has_value(), "--layout", "cannot be used with --infer-address");
}

}  // namespace

void declare_address(CLI::App& app, DataKey& key) {
  static const std::map<std::string, DataKey> keys = {
      {"logical", DataKey::kLogical}, {"real", DataKey::kReal}, {"effective", DataKey::kEffective}};
  app.add_option("--address", key, "Data addresses: logical, real, effective [logical]")
      ->transform(one_of(keys))
      ->type_name("KIND")
      ->default_str("");
}

std::vector<uint64_t> parse_units(const std::vector<std::string>& texts) {
  std::vector<uint64_t> units;
  for (const std::string& text : texts) {
    const auto size = parse_size(text);
    if (!size || !std::has_single_bit(*size)) {
      throw CLI::ValidationError("--unit", text + " is not a power of two such as 128, 4K or 16M");
    }
    units.push_back(*size);
  }
  return units;
}

void declare_options(CLI::App& app, ReportOptions& options) {
  declare_traces(app, options.traces);
  declare_exit_code(app, options.traces);
  declare_tables(app, options);
  declare_symbols(app, options.symbols);
  declare_debug_folders(app, options.lines);
  app.add_option("--program", options.program,
                 "Program or library of the profile (llvm-profile, call-order)")
      ->type_name("FILE")
      ->check(not_empty("file"));
  app.option_defaults()->group(kOutputGroup);
  static const std::map<std::string, ReportFormat> formats = {
      {"text", ReportFormat::kText},
      {"json", ReportFormat::kJson},
      {"csv", ReportFormat::kCsv},
      {"svg", ReportFormat::kSvg},
      {"perfetto", ReportFormat::kPerfetto},
      {"callgrind", ReportFormat::kCallgrind},
      {"lcov", ReportFormat::kLcov},
      {"llvm-profile", ReportFormat::kLlvmProfile},
      {"call-order", ReportFormat::kCallOrder}};
  app.add_option(
         "--format", options.format,
         "Format: text, json, csv, svg, perfetto, callgrind, lcov, llvm-profile, call-order [text]")
      ->transform(one_of(formats))
      ->type_name("FORMAT")
      ->default_str("");
  app.add_option_function<std::string>(
         "--html",
         [&options](const std::string& file) {
           options.format = ReportFormat::kHtml;
           options.traces.output = output_of_option("--html", file);
         },
         "Write one HTML page with pictures and tables to FILE")
      ->type_name("FILE");
  declare_color(app, options.terminal);
  declare_threads(app, options.traces);
  declare_pager(app, options.terminal);
  declare_quiet(app, options.traces);
}

void check(const CLI::App& app, ReportOptions& options) {
  if (options.is_lcov()) check_format(app, "--format lcov");
  if (options.format == ReportFormat::kLlvmProfile) check_format(app, "--format llvm-profile");
  if (options.format == ReportFormat::kCallOrder) check_format(app, "--format call-order");
  reject(!options.program.empty() && !options.is_for_compilers(), "--program",
         "requires --format llvm-profile or call-order");
  if (options.is_callgrind()) {
    check_alone(app, "--format callgrind",
                {"--stacks", "--blocks", "--lines", "--heat-map", "--timeline", "--between",
                 "--infer-address", "--last"});
    options.calls = true;
  }
  for (const char* const of_data : {"--address", "--unit"}) {
    reject(
        app.count(of_data) != 0 && (options.follows_calls() || options.blocks || options.timeline),
        of_data, "cannot be used with --stacks, --calls, --blocks and --timeline");
  }
  if (options.calls) check_calls(app, options);
  if (options.format == ReportFormat::kHtml) check_html(app);
  if (!options.between.empty()) check_between(app, options);
  if (options.blocks) check_blocks(options);
  reject(options.predict_cycles && !options.blocks, "--mca", "requires --blocks");
  if (options.by_line) check_lines(app, options);
  const bool has_stacks = options.follows_calls() || options.format == ReportFormat::kPerfetto ||
                          options.format == ReportFormat::kHtml;
  reject(options.inlined && !has_stacks, "--inlined",
         "requires --stacks, --calls, --format perfetto or --html");
  reject(options.inlined && options.is_callgrind(), "--inlined",
         "cannot be used with --format callgrind");
  reject(!options.lines.debug_folders.empty() && !options.has_lines(), "--debug-dir",
         "requires --lines, --inlined or --format callgrind or lcov");
  if (options.units.empty()) {
    options.units = {"64K"};
    if (!options.heat_map) options.units.insert(options.units.begin(), "128");
  }
  options.wishes.units = parse_units(options.units);
  if (options.stacks) check_stacks(options);
  if (options.timeline) check_timeline(options);
  reject(options.format == ReportFormat::kPerfetto && !options.timeline, "--format",
         "perfetto requires --timeline");
  if (options.infer_address) check_inferred(options);
  if (options.heat_map) {
    reject(options.wishes.units.size() != 1, "--unit", "a heat map accepts only one unit");
    reject(options.traces.selection.last != Selection::kAny, "--heat-map",
           "cannot be used with --last");
  } else {
    reject(options.format == ReportFormat::kSvg && !options.calls, "--format",
           "svg requires --heat-map or --calls");
    reject(options.axis.has_value(), "--over", "requires --heat-map");
  }
  reject(options.wishes.processes && !options.has_tables(), "--processes",
         "cannot be used with --stacks, --calls, --blocks, --lines, --heat-map, --timeline, "
         "--between and --infer-address");
  check(options.symbols);
}

}  // namespace htmtrace
