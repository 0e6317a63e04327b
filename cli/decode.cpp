// SPDX-License-Identifier: GPL-2.0-or-later
// htmtrace decode: traces to text, JSON Lines or CSV.
#include <fmt/core.h>
#include <unistd.h>

#include <csignal>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/nest_decode.h"
#include "cli/report.h"
#include "cli/selection_options.h"
#include "cli/trace_bytes.h"
#include "cli/trace_choice.h"
#include "cli/trace_context.h"
#include "core/core_decoder.h"
#include "core/error.h"
#include "output/csv_printer.h"
#include "output/decode_report.h"
#include "output/input_file.h"
#include "output/json_printer.h"
#include "output/progress.h"
#include "output/selecting_sink.h"
#include "output/text_output.h"
#include "output/text_printer.h"

namespace htmtrace {
namespace {

using Format = NestPrinter::Format;

struct DecodeOptions {
  std::vector<std::string> paths;
  TargetFilter filter;
  ContextOptions context;
  Selection selection;
  NestOptions nest;
  Format format = Format::kText;
  std::string output;
  bool force = false;
  bool stamps = false;
  bool modes = false;
  bool walks = false;
  bool file_order = false;
  uint64_t limit = std::numeric_limits<uint64_t>::max();
  bool quiet = false;
};

class Decode {
 public:
  Decode(const DecodeOptions& options, TextOutput output)
      : options_(options), output_(std::move(output)) {}

  int run() {
    const std::vector<ChosenTrace> traces = choose_traces(options_.paths, options_.filter);
    for (const ChosenTrace& trace : traces) {
      if (traces.size() > 1 && options_.format == Format::kText) {
        output_.put(fmt::format("# target {}\n", trace.describe()));
      }
      decode(trace);
      if (output_.reader_gone()) break;
    }
    output_.finish();
    if (output_.reader_gone()) return kExitDone;
    if (!options_.quiet) print_note(describe(totals_));
    return incomplete_ ? kExitIncomplete : kExitDone;
  }

 private:
  void decode(const ChosenTrace& trace) {
    const ManifestFacts facts = manifest_of(trace);
    const HtmType type = type_of(options_.context, trace, facts).value_or(HtmType::kCore);
    if (type == HtmType::kLlat) {
      throw Error(fmt::format("cannot decode {}: it is an llat trace, whose format is not public",
                              trace.path.string()))
          .hint("if it is another all the same, say so: --type core");
    }
    const TranslationMap map = load_map(options_.context, trace, facts);
    if (type == HtmType::kNest) return decode_bus(trace, map);
    heading(kCsvHeading);
    InputFile input =
        trace.is_standard_input() ? InputFile::standard_input() : InputFile::open(trace.path);
    TraceBytes bytes(input, options_.file_order || trace.is_standard_input());
    switch (options_.format) {
      case Format::kText: {
        TextPrinter printer(output_, {.stamps = options_.stamps, .modes = options_.modes});
        if (options_.selection.everything()) return decode_into(printer, bytes, map);
        return select_into(printer, bytes, map);
      }
      case Format::kJson: {
        JsonPrinter printer(output_, trace.short_name(), options_.stamps);
        return select_into(printer, bytes, map);
      }
      case Format::kCsv: {
        CsvPrinter printer(output_, trace.short_name());
        return select_into(printer, bytes, map);
      }
    }
  }

  // Of CSV, once for traces of the same kind in a row.
  void heading(std::string_view names) {
    if (options_.format == Format::kCsv && heading_ != names) output_.put(names);
    heading_ = names;
  }

  void decode_bus(const ChosenTrace& trace, const TranslationMap& map) {
    if (options_.modes || options_.walks) {
      throw Error("cannot print modes or walks of " + trace.path.string() + ": it is a nest trace");
    }
    heading(kNestCsvHeading);
    const NestJob job = {.trace = trace,
                         .options = options_.nest,
                         .selection = options_.selection,
                         .map = map,
                         .wishes = {.format = options_.format,
                                    .stamps = options_.stamps,
                                    .target = trace.short_name()},
                         .show_progress = show_progress_,
                         .quiet = options_.quiet};
    const nest::Statistics statistics = decode_nest(job, output_);
    totals_.add(statistics);
    if (statistics.incomplete() || map.report().damaged()) incomplete_ = true;
    if (options_.quiet || output_.reader_gone()) return;
    if (map.report().size_bytes != 0) fmt::print(stderr, "{}", describe(map.report()));
  }

  template <class Printer>
  void select_into(Printer& printer, TraceBytes& bytes, const TranslationMap& map) {
    SelectingSink sink(options_.selection, printer);
    decode_into(sink, bytes, map);
    sink.finish();
  }

  template <class Sink>
  void decode_into(Sink& sink, TraceBytes& bytes, const TranslationMap& map) {
    CoreDecoder decoder(map, sink);
    decoder.set_instruction_limit(options_.limit);
    if (options_.walks) decoder.follow_walks();
    const InputFile& input = bytes.file();
    Progress progress(stderr);
    std::span<std::byte> piece(piece_.get(), InputFile::kPieceBytes);
    while (!decoder.finished() && !output_.reader_gone()) {
      const size_t got = bytes.read(piece);
      if (got == 0) break;
      decoder.feed(piece.first(got));
      if (show_progress_) {
        progress.decoding(decoder.offset(), input.size_bytes().value_or(0),
                          fmt::format("{} losses", decoder.statistics().loss_stamps));
      }
    }
    decoder.finish();
    progress.clear();
    if (output_.reader_gone()) return;
    if (bytes.wrapped_at()) tell_wrap(input.name(), *bytes.wrapped_at());
    report(input.name(), decoder.statistics(), map.report());
  }

  void tell_wrap(const std::string& name, uint64_t oldest) {
    if (options_.quiet) return;
    output_.flush();
    print_note(
        fmt::format("{} had wrapped: decoded from its oldest byte, {:#x}, from which offsets "
                    "count (--file-order: as it is)",
                    name, oldest));
  }

  void report(const std::string& name, const CoreStatistics& statistics,
              const TranslationReport& map) {
    totals_.add(statistics);
    if (statistics.incomplete() || map.damaged()) incomplete_ = true;
    if (statistics.no_tags()) {
      print_warning(
          fmt::format("no core-trace record in {}: is it a core trace? (nest traces have another "
                      "format: --type nest)",
                      name));
    } else if (statistics.bytes == 0) {
      print_warning(fmt::format("{} is empty", name));
    } else if (statistics.accounted_bytes() == statistics.filler_words * words::kWordBytes) {
      print_warning(fmt::format("{} holds nothing but zeros", name));
    }
    if (options_.quiet) return;
    output_.flush();  // so that a terminal shows the text before what is said about it
    fmt::print(stderr, "{}\n{}", name, describe(statistics));
    if (map.size_bytes != 0) fmt::print(stderr, "{}", describe(map));
  }

  const DecodeOptions& options_;
  TextOutput output_;
  std::unique_ptr<std::byte[]> piece_{new std::byte[InputFile::kPieceBytes]};
  // Text on the same terminal shows well enough how it gets on.
  const bool show_progress_ =
      ::isatty(STDERR_FILENO) == 1 && (!options_.output.empty() || ::isatty(STDOUT_FILENO) == 0);
  std::string_view heading_;  // the last one printed
  DecodeTotals totals_;
  bool incomplete_ = false;
};

void check(const DecodeOptions& options) {
  if (options.stamps && options.format == Format::kCsv) {
    throw CLI::ValidationError("--stamps", "stamps have other columns: use --format json");
  }
  if (options.walks && options.format == Format::kCsv) {
    throw CLI::ValidationError("--walks", "walks have other columns: use --format json");
  }
  if (options.walks && options.selection.last != Selection::kAny) {
    throw CLI::ValidationError("--walks", "cannot be used with --last");
  }
  if (options.stamps && options.selection.last != Selection::kAny) {
    throw CLI::ValidationError("--stamps", "cannot be used with --last");
  }
}

}  // namespace

Action declare_decode(CLI::App& app) {
  auto options = std::make_shared<DecodeOptions>();
  options->paths = {"."};
  app.add_option("PATH", options->paths,
                 "folder of a recording, trace file, or - for standard input (default: .)");
  app.add_option("--node", options->filter.node, "of a folder, only the traces of this node");
  app.add_option("--chip", options->filter.chip, "of a folder, only the traces of this chip");
  app.add_option("--core", options->filter.core, "of a folder, only the traces of this core");
  declare_context(app, options->context);
  declare_selection(app, options->selection);
  declare_nest(app, options->nest);
  static const std::map<std::string, Format> formats = {
      {"text", Format::kText}, {"json", Format::kJson}, {"csv", Format::kCsv}};
  app.add_option("--format", options->format,
                 "text, json (one object a line) or csv (default: text)")
      ->transform(CLI::CheckedTransformer(formats))
      ->type_name("FORMAT")
      ->default_str("");
  app.add_option("-o,--output", options->output, "write the text here, not to standard output")
      ->type_name("FILE");
  app.add_flag("--force", options->force, "replace the file of -o");
  app.add_flag("--stamps", options->stamps, "print a line for each stamp, too");
  app.add_flag("--modes", options->modes,
               "add to each line of text the privilege and the mode bits of the instruction");
  app.add_flag("--walks", options->walks,
               "print the walks through page tables of each instruction before it");
  app.add_flag("--file-order", options->file_order,
               "do not look whether the trace buffer had wrapped");
  app.add_option("--limit", options->limit, "stop after N instructions of each trace")
      ->type_name("N")
      ->default_str("");
  app.add_flag("-q,--quiet", options->quiet, "no statistics");
  app.footer(
      "One line per instruction, hexadecimal: ea= op= ra= la=, then dea= dra= dla= for each data\n"
      "address. Dashes stand for what the trace does not tell. See htmtrace-decode(1).\n"
      "Exit status: 0 done, 1 failed, 2 usage, 3 something was lost or could not be decoded.");
  app.parse_complete_callback([options] { check(*options); });
  return [options] {
    std::signal(SIGPIPE, SIG_IGN);  // a reader that has gone is an errno of write()
    TextOutput output = options->output.empty()
                            ? TextOutput::standard_output()
                            : TextOutput::create(options->output, options->force);
    return Decode(*options, std::move(output)).run();
  };
}

}  // namespace htmtrace
