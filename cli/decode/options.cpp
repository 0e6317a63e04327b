// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/decode/options.h"

#include <fmt/core.h>
#include <unistd.h>

#include <map>

#include "cli/decode/fields.h"
#include "cli/help.h"
#include "cli/number_from.h"
#include "cli/one_of.h"
#include "core/base/error.h"
#include "output/print/core_fields_printer.h"

namespace htmtrace {
namespace {

void refuse(bool wish, const char* option, const char* why) {
  if (wish) throw CLI::ValidationError(option, why);
}

void declare_format(CLI::App& app, DecodeOptions& options) {
  static const std::map<std::string, DecodeFormat> formats = {
      {"text", DecodeFormat::kText},        {"json", DecodeFormat::kJson},
      {"csv", DecodeFormat::kCsv},          {"qtrace", DecodeFormat::kQtrace},
      {"bbv", DecodeFormat::kBlockVectors}, {"htmdecode", DecodeFormat::kHtmdecode},
      {"avro", DecodeFormat::kAvro},        {"parquet", DecodeFormat::kParquet},
      {"perf", DecodeFormat::kPerf}};
  app.option_defaults()->group(kOutputGroup);
  app.add_option("--format", options.format,
                 "text, json, csv, avro, parquet, perf, qtrace, bbv, htmdecode [text]")
      ->transform(one_of(formats))
      ->type_name("FORMAT")
      ->default_str("");
  using Pages = QtraceWriter::Pages;
  static const std::map<std::string, Pages> pages = {
      {"logical", Pages::kLogical}, {"real", Pages::kReal}, {"none", Pages::kNone}};
  app.add_option("--pages", options.pages, "qtrace pages: logical, real, none [logical if known]")
      ->transform(one_of(pages))
      ->type_name("KIND");
  app.add_option("--interval", options.interval, "bbv: instructions per vector [10000000]")
      ->type_name("N")
      ->check(number_from(1));
  app.add_option("--blocks", options.blocks, "bbv: write the list of blocks to FILE")
      ->type_name("FILE");
  app.add_option("--part-rows", options.part_rows,
                 "avro, parquet: at most N rows in each file [10000000]")
      ->type_name("N")
      ->check(number_from(1))
      ->default_str("");
  static const std::map<std::string, RowCodec> codecs = {{"null", RowCodec::kNull},
                                                         {"deflate", RowCodec::kDeflate},
                                                         {"snappy", RowCodec::kSnappy},
                                                         {"zstandard", RowCodec::kZstandard}};
  app.add_option("--codec", options.codec,
                 fmt::format("avro, parquet: null, deflate, snappy, zstandard [{}]",
                             row_codec_name(default_row_codec())))
      ->transform(one_of(codecs))
      ->type_name("CODEC");
  app.add_option("--part-ticks", options.part_ticks,
                 "avro, parquet: make one folder for every N ticks")
      ->type_name("N")
      ->check(number_from(1));
}

void declare_perf(CLI::App& app, DecodeOptions& options) {
  app.option_defaults()->group(kOutputGroup);
  app.add_option_function<std::string>(
         "--period",
         [&options](const std::string& text) {
           options.period = text == "branch" ? PerfSampling::kBranches : std::stoull(text);
         },
         "perf: N instructions, or a taken branch, for each sample [1]")
      ->type_name("N|branch")
      ->check(CLI::Validator(
          [](const std::string& text) {
            return text == "branch" ? std::string() : number_from(1)(text);
          },
          ""));
  app.add_flag("--stacks", options.stacks, "perf: add the call stack to each sample");
  app.add_option("--branches", options.branches, "perf: add the last N taken branches [0]")
      ->type_name("N")
      ->check(CLI::Range(0U, PerfSampling::kMostBranches).description(""))
      ->default_str("");
}

// With --fields, options cannot add anything to a line.
void check_fields(const DecodeOptions& options) {
  const bool lines = options.format == DecodeFormat::kText ||
                     options.format == DecodeFormat::kJson || options.format == DecodeFormat::kCsv;
  refuse(!lines, "--fields", "requires --format text, json or csv");
  const char* const named = "cannot be used with --fields, which can name the fields";
  refuse(options.modes, "--modes", named);
  refuse(options.symbols, "--symbols", named);
  refuse(options.disassemble, "--disassemble", named);
  refuse(needs_of(options.fields).place && options.traces.selection.last != Selection::kAny,
         "--last", "cannot be used with --fields insn and tick");
  const char* const why = "cannot be used with --fields";
  refuse(options.stamps, "--stamps", why);
  refuse(options.walks, "--walks", why);
  refuse(options.summary, "--summary", why);
}

// A summary is text without events.
void check_summary(const DecodeOptions& options) {
  const char* const why = "cannot be used with --summary: it prints no events";
  refuse(options.format != DecodeFormat::kText, "--format", "--summary prints text only");
  refuse(options.stamps, "--stamps", why);
  refuse(options.modes, "--modes", why);
  refuse(options.disassemble, "--disassemble", why);
  refuse(options.symbols, "--symbols", why);
}

// Row formats hold all decoded events, in the order of the trace.
void check_rows(const DecodeOptions& options) {
  const char* const why = "cannot be used with --format avro and parquet";
  refuse(options.codec && !has_row_codec(*options.codec), "--codec",
         "htmtrace was built without this codec's library");
  refuse(options.traces.output.empty(), "--format", "avro and parquet require -o DIR");
  refuse(options.stamps, "--stamps", why);
  refuse(options.walks, "--walks", why);
  refuse(options.file_order, "--file-order", why);
  refuse(options.limit != DecodeOptions::kNoLimit, "--limit", why);
  refuse(options.traces.selection.last != Selection::kAny, "--last", why);
}

void check_perf(const DecodeOptions& options) {
  const char* const why = "cannot be used with --format perf";
  const std::string& file = options.traces.output;
  refuse(file.empty(), "--format", "perf requires -o FILE");
  refuse(options.stamps, "--stamps", why);
  refuse(options.walks, "--walks", why);
  refuse(options.file_order, "--file-order", why);
  refuse(options.limit != DecodeOptions::kNoLimit, "--limit", why);
  refuse(options.traces.selection.last != Selection::kAny, "--last", why);
}

void check_names(const DecodeOptions& options) {
  const bool named = options.format == DecodeFormat::kText ||
                     options.format == DecodeFormat::kJson || options.format == DecodeFormat::kCsv;
  refuse(options.symbols && !named, "--symbols", "requires --format text, json or csv");
  const bool unused = !options.needs_names();
  const char* const why =
      "requires --symbols, --fields sym, --format perf, --function, --data or --code";
  refuse(!options.lines.debug_folders.empty() && !needs_of(options.fields).lines, "--debug-dir",
         "requires --fields line or --fields inlined");
  refuse(unused && !options.names.kallsyms.empty(), "--kallsyms", why);
  refuse(unused && !options.names.elf.empty(), "--elf", why);
  check(options.names);
}

}  // namespace

bool DecodeOptions::needs_names() const {
  return symbols || format == DecodeFormat::kPerf || needs_of(fields).symbols ||
         !traces.names.empty();
}

void declare_options(CLI::App& app, DecodeOptions& options) {
  declare_traces(app, options.traces);
  declare_exit_code(app, options.traces);
  declare_format(app, options);
  declare_perf(app, options);
  declare_fields(app, options.fields);
  app.add_flag("--summary", options.summary, "Print statistics instead of events");
  app.add_flag("--stamps", options.stamps, "Print a line for each stamp");
  app.add_flag("--modes", options.modes, "Add privilege and mode bits to text lines");
  app.add_flag("--disassemble", options.disassemble,
               "Add the disassembled instruction to text lines");
  app.option_defaults()->group(kSymbolGroup);
  app.add_flag("--symbols", options.symbols, "Add symbol names of instructions and data");
  declare_symbols(app, options.names);
  declare_debug_folders(app, options.lines);
  app.option_defaults()->group(kOutputGroup);
  app.add_flag("--walks", options.walks, "Print page-table walks ahead of their instruction");
  app.option_defaults()->group(kInputGroup);
  app.add_flag("--file-order", options.file_order, "Read in file order, even if the trace wrapped");
  app.option_defaults()->group(kSelectionGroup);
  app.add_option("--limit", options.limit, "Stop after N instructions or nest commands")
      ->type_name("N")
      ->check(number_from(0))
      ->default_str("");
  app.option_defaults()->group(kOutputGroup);
  declare_threads(app, options.traces);
  declare_pager(app, options.terminal);
  declare_quiet(app, options.traces);
  set_common_options(app,
                     {"--output", "--format", "--fields", "--summary", "--symbols", "--limit"});
  app.footer(
      "Example:\n"
      "  htmtrace decode --symbols --limit 1000 DIR");
}

void check(const DecodeOptions& options) {
  const bool last = options.traces.selection.last != Selection::kAny;
  const bool csv = options.format == DecodeFormat::kCsv;
  const bool simulators = for_simulators(options.format);
  refuse(options.stamps && csv, "--stamps", "csv cannot hold stamps; use --format json");
  refuse(options.walks && csv, "--walks", "csv cannot hold walks; use --format json");
  refuse(options.disassemble && options.format != DecodeFormat::kText, "--disassemble",
         "requires --format text");
  refuse(options.walks && last, "--walks", "cannot be used with --last");
  refuse(options.stamps && last, "--stamps", "cannot be used with --last");
  refuse(options.stamps && simulators, "--stamps", "cannot be used with --format qtrace or bbv");
  refuse(options.walks && simulators, "--walks", "cannot be used with --format qtrace or bbv");
  refuse(last && simulators, "--last", "cannot be used with --format qtrace or bbv");
  refuse(options.pages && options.format != DecodeFormat::kQtrace, "--pages",
         "requires --format qtrace");
  if (!options.fields.empty()) check_fields(options);
  check_names(options);
  if (options.summary) check_summary(options);
  const bool rows = for_engines(options.format);
  if (rows) check_rows(options);
  const bool perf = options.format == DecodeFormat::kPerf;
  if (perf) check_perf(options);
  refuse(options.period && !perf, "--period", "requires --format perf");
  refuse(options.stacks && !perf, "--stacks", "requires --format perf");
  refuse(options.branches != 0 && !perf, "--branches", "requires --format perf");
  const char* const no_parts = "requires --format avro or parquet";
  refuse(options.codec && !rows, "--codec", no_parts);
  refuse(options.part_ticks && !rows, "--part-ticks", no_parts);
  refuse(options.part_rows != DecodeOptions::kPartRows && !rows, "--part-rows", no_parts);
  const bool vectors = options.format == DecodeFormat::kBlockVectors;
  refuse(options.interval && !vectors, "--interval", "requires --format bbv");
  refuse(!options.blocks.empty() && !vectors, "--blocks", "requires --format bbv");
  refuse(!options.blocks.empty() && options.blocks == options.traces.output, "--blocks",
         "-o names the same file");
}

void check_terminal(const DecodeOptions& options) {
  if (options.format == DecodeFormat::kQtrace && options.traces.output.empty() &&
      ::isatty(STDOUT_FILENO) == 1) {
    throw Error("cannot write qtrace to a terminal").hint("pass -o FILE");
  }
}

}  // namespace htmtrace
