// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/report_options.h"

#include <bit>
#include <map>

#include "cli/number_from.h"
#include "cli/one_of.h"
#include "cli/units.h"

namespace htmtrace {
namespace {

void reject(bool wish, const char* option, const char* why) {
  if (wish) throw CLI::ValidationError(option, why);
}

void declare_tables(CLI::App& app, ReportOptions& options) {
  declare_address(app, options.wishes.key);
  app.add_option("--unit", options.units,
                 "count data in units of SIZE bytes, a power of two; one table for each "
                 "(default: 128,64K; of a heat map 64K)")
      ->type_name("SIZE,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->default_str("");
  app.add_option(
         "--top", options.top,
         "lines of each table, or so many blocks (default: 20; of a heat map 32, in files 128)")
      ->type_name("N")
      ->check(number_from(0))
      ->default_str("");
  app.add_option("--entries", options.wishes.entries,
                 "places that each table keeps in memory (default: 65536)")
      ->type_name("N")
      ->check(CLI::Range(size_t{16}, size_t{1} << 28))
      ->default_str("");
  app.add_flag("--stacks", options.stacks,
               "call stacks, folded; [unknown callers] marks incomplete ones");
  app.add_flag("--blocks", options.blocks,
               "instead of tables, hot basic blocks: what they are made of and where they lead");
  app.add_flag("--heat-map", options.heat_map,
               "instead of tables, which addresses were touched when");
  app.add_flag("--timeline", options.timeline,
               "instead of tables, how core traces got on, over their instructions");
  app.add_flag("--infer-address", options.infer_address,
               "nest traces of an unknown layout: look for the address by the memory map");
  static const std::map<std::string, HeatAxis> axes = {{"ticks", HeatAxis::kTicks},
                                                       {"events", HeatAxis::kEvents}};
  app.add_option("--over", options.axis,
                 "heat map: over ticks or events, which are instructions or commands (default: "
                 "ticks, if the trace has any)")
      ->transform(one_of(axes))
      ->type_name("AXIS")
      ->default_str("");
}

void check_stacks(const ReportOptions& options) {
  reject(options.format != ReportFormat::kText, "--stacks", "folded stacks are text");
  reject(options.traces.selection.last != Selection::kAny, "--stacks",
         "cannot be used with --last");
  reject(options.heat_map, "--stacks", "cannot be used with --heat-map");
}

void check_timeline(const ReportOptions& options) {
  reject(options.format == ReportFormat::kSvg, "--format", "a --timeline is no svg: use perfetto");
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

void check_inferred(const ReportOptions& options) {
  const Selection& s = options.traces.selection;
  reject(options.format != ReportFormat::kText, "--format", "what is inferred is told as text");
  reject(options.heat_map, "--heat-map", "cannot be used with --infer-address");
  reject(options.stacks, "--stacks", "cannot be used with --infer-address");
  reject(!s.ra.empty() || !s.la.empty() || !options.traces.nest.commands.empty(), "--infer-address",
         "cannot be used with --ra, --la and --command: of an unknown layout, none is known");
  reject(options.traces.nest.layout.has_value(), "--layout", "cannot be used with --infer-address");
}

}  // namespace

void declare_address(CLI::App& app, DataKey& key) {
  static const std::map<std::string, DataKey> keys = {
      {"logical", DataKey::kLogical}, {"real", DataKey::kReal}, {"effective", DataKey::kEffective}};
  app.add_option("--address", key,
                 "tell data apart by their logical, real or effective address (default: logical)")
      ->transform(one_of(keys))
      ->type_name("KIND")
      ->default_str("");
}

std::vector<uint64_t> parse_units(const std::vector<std::string>& texts) {
  std::vector<uint64_t> units;
  for (const std::string& text : texts) {
    const auto size = parse_size(text);
    if (!size || !std::has_single_bit(*size)) {
      throw CLI::ValidationError("--unit", text + " is no power of two such as 128, 4K or 16M");
    }
    units.push_back(*size);
  }
  return units;
}

void declare_options(CLI::App& app, ReportOptions& options) {
  declare_traces(app, options.traces);
  declare_tables(app, options);
  declare_symbols(app, options.symbols);
  static const std::map<std::string, ReportFormat> formats = {
      {"text", ReportFormat::kText},
      {"json", ReportFormat::kJson},
      {"csv", ReportFormat::kCsv},
      {"svg", ReportFormat::kSvg},
      {"perfetto", ReportFormat::kPerfetto}};
  app.add_option("--format", options.format,
                 "text, json, csv, of a heat map svg, of a timeline perfetto (default: text)")
      ->transform(one_of(formats))
      ->type_name("FORMAT")
      ->default_str("");
}

void check(const CLI::App& app, ReportOptions& options) {
  for (const char* const of_data : {"--address", "--unit"}) {
    reject(app.count(of_data) != 0 && (options.stacks || options.blocks || options.timeline),
           of_data, "cannot be used with --stacks, --blocks and --timeline: they are no data");
  }
  if (options.blocks) check_blocks(options);
  if (options.units.empty()) {
    options.units = {"64K"};
    if (!options.heat_map) options.units.insert(options.units.begin(), "128");
  }
  options.wishes.units = parse_units(options.units);
  if (options.stacks) check_stacks(options);
  if (options.timeline) check_timeline(options);
  reject(options.format == ReportFormat::kPerfetto && !options.timeline, "--format",
         "only a --timeline can be perfetto");
  if (options.infer_address) check_inferred(options);
  if (options.heat_map) {
    reject(options.wishes.units.size() != 1, "--unit", "a heat map has rows of one size");
    reject(options.traces.selection.last != Selection::kAny, "--heat-map",
           "cannot be used with --last");
  } else {
    reject(options.format == ReportFormat::kSvg, "--format", "only a --heat-map can be svg");
    reject(options.axis.has_value(), "--over", "only a --heat-map has an axis of time");
  }
  check(options.symbols);
}

}  // namespace htmtrace
