// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/decode_options.h"

#include <unistd.h>

#include <map>

#include "cli/number_from.h"
#include "cli/one_of.h"
#include "core/error.h"
#include "output/avro_file.h"
#include "output/parquet_file.h"

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
      {"avro", DecodeFormat::kAvro},        {"parquet", DecodeFormat::kParquet}};
  app.add_option(
         "--format", options.format,
         "text, json (one object a line), csv, qtrace or bbv (basic-block vectors; both for "
         "simulators), htmdecode (nest traces, as the perf tool reads them), avro or parquet (each "
         "a folder of files for engines that read in parallel) (default: text)")
      ->transform(one_of(formats))
      ->type_name("FORMAT")
      ->default_str("");
  using Pages = QtraceWriter::Pages;
  static const std::map<std::string, Pages> pages = {
      {"logical", Pages::kLogical}, {"real", Pages::kReal}, {"none", Pages::kNone}};
  app.add_option("--pages", options.pages,
                 "qtrace: write the pages of logical or real addresses, or none (default: logical "
                 "with a memory map, else real)")
      ->transform(one_of(pages))
      ->type_name("KIND");
  app.add_option("--interval", options.interval,
                 "bbv: a vector for every N instructions (default: 10000000)")
      ->type_name("N")
      ->check(number_from(1));
  app.add_option("--blocks", options.blocks, "bbv: write the list of the blocks here")
      ->type_name("FILE");
  app.add_option("--part-rows", options.part_rows,
                 "avro, parquet: rows of a file, at most (default: 10000000)")
      ->type_name("N")
      ->check(number_from(1))
      ->default_str("");
  app.add_option("--part-ticks", options.part_ticks,
                 "avro, parquet: files of windows of N ticks, each window in a folder of its own")
      ->type_name("N")
      ->check(number_from(1));
}

// It is text, and no event is printed.
void check_summary(const DecodeOptions& options) {
  const char* const why = "cannot be used with --summary: it prints no events";
  refuse(options.format != DecodeFormat::kText, "--format", "the summary is text");
  refuse(options.stamps, "--stamps", why);
  refuse(options.modes, "--modes", why);
  refuse(options.disassemble, "--disassemble", why);
  refuse(options.symbols, "--symbols", why);
}

// Its rows are of all that was decoded, in the order of the trace.
void check_rows(const DecodeOptions& options) {
  const char* const why = "cannot be used with --format avro and parquet";
  const bool avro = options.format == DecodeFormat::kAvro;
  refuse(avro && !AvroFile::can_write(), "--format",
         "htmtrace was built without libavro: use json or csv");
  refuse(!avro && !ParquetFile::can_write(), "--format",
         "htmtrace was built without Parquet (-DHTMTRACE_PARQUET=ON): use avro");
  refuse(options.traces.output.empty(), "--format",
         "avro and parquet are folders of files: name one with -o");
  refuse(options.stamps, "--stamps", why);
  refuse(options.walks, "--walks", why);
  refuse(options.file_order, "--file-order", why);
  refuse(options.limit != DecodeOptions::kNoLimit, "--limit", why);
  refuse(options.traces.selection.last != Selection::kAny, "--last", why);
}

void check_names(const DecodeOptions& options) {
  const bool named = options.format == DecodeFormat::kText ||
                     options.format == DecodeFormat::kJson || options.format == DecodeFormat::kCsv;
  refuse(options.symbols && !named, "--symbols", "only text, json and csv have names");
  const char* const why = "it has no effect without --symbols";
  refuse(!options.symbols && !options.names.kallsyms.empty(), "--kallsyms", why);
  refuse(!options.symbols && !options.names.elf.empty(), "--elf", why);
  check(options.names);
}

}  // namespace

void declare_options(CLI::App& app, DecodeOptions& options) {
  declare_traces(app, options.traces);
  declare_format(app, options);
  app.add_flag("--summary", options.summary, "print the statistics in place of the events");
  app.add_flag("--stamps", options.stamps, "print a line for each stamp, too");
  app.add_flag("--modes", options.modes,
               "add to each line of text the privilege and the mode bits of the instruction");
  app.add_flag("--disassemble", options.disassemble,
               "add to each line of text the instruction as assembler");
  app.add_flag("--symbols", options.symbols,
               "add to each instruction the names of its address and of those of its data");
  declare_symbols(app, options.names);
  app.add_flag("--walks", options.walks,
               "print the walks through page tables of each instruction before it");
  app.add_flag("--file-order", options.file_order,
               "do not look whether the trace buffer had wrapped");
  app.add_option("--limit", options.limit,
                 "stop after N instructions (nest traces: commands) of each trace")
      ->type_name("N")
      ->check(number_from(0))
      ->default_str("");
  app.add_option("-j,--threads", options.threads,
                 "decode a core trace with N threads (default: as many as processors)")
      ->type_name("N")
      ->check(CLI::Range(1U, DecodeOptions::kMostThreads))
      ->default_str("");
  app.add_flag("-q,--quiet", options.quiet, "no statistics");
}

void check(const DecodeOptions& options) {
  const bool last = options.traces.selection.last != Selection::kAny;
  const bool csv = options.format == DecodeFormat::kCsv;
  const bool simulators = for_simulators(options.format);
  refuse(options.stamps && csv, "--stamps", "stamps have other columns: use --format json");
  refuse(options.walks && csv, "--walks", "walks have other columns: use --format json");
  refuse(options.disassemble && options.format != DecodeFormat::kText, "--disassemble",
         "only text has assembler");
  refuse(options.walks && last, "--walks", "cannot be used with --last");
  refuse(options.stamps && last, "--stamps", "cannot be used with --last");
  refuse(options.stamps && simulators, "--stamps", "files for simulators have no stamps");
  refuse(options.walks && simulators, "--walks", "files for simulators have no walks");
  refuse(last && simulators, "--last", "cannot be used with files for simulators");
  refuse(options.pages && options.format != DecodeFormat::kQtrace, "--pages",
         "only --format qtrace has pages");
  check_names(options);
  if (options.summary) check_summary(options);
  const bool rows = for_engines(options.format);
  if (rows) check_rows(options);
  const char* const no_parts = "only --format avro and parquet have parts";
  refuse(options.part_ticks && !rows, "--part-ticks", no_parts);
  refuse(options.part_rows != DecodeOptions::kPartRows && !rows, "--part-rows", no_parts);
  const bool vectors = options.format == DecodeFormat::kBlockVectors;
  refuse(options.interval && !vectors, "--interval", "only --format bbv has intervals");
  refuse(!options.blocks.empty() && !vectors, "--blocks", "only --format bbv has blocks");
  refuse(!options.blocks.empty() && options.blocks == options.traces.output, "--blocks",
         "the vectors go to this file");
}

void check_terminal(const DecodeOptions& options) {
  if (options.format == DecodeFormat::kQtrace && options.traces.output.empty() &&
      ::isatty(STDOUT_FILENO) == 1) {
    throw Error("cannot write qtrace to a terminal").hint("name a file with -o");
  }
}

}  // namespace htmtrace
