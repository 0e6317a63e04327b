// SPDX-License-Identifier: GPL-2.0-or-later
// htmtrace decode: converts traces to text, JSON Lines, CSV, qtrace and other formats.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "cli/commands.h"
#include "cli/decode/account.h"
#include "cli/decode/dispatches.h"
#include "cli/decode/fields.h"
#include "cli/decode/names.h"
#include "cli/decode/nest_decode.h"
#include "cli/decode/options.h"
#include "cli/decode/perf_decode.h"
#include "cli/decode/row_decode.h"
#include "cli/dispatches/replay_options.h"
#include "cli/messages.h"
#include "cli/traces/bytes.h"
#include "cli/traces/choice.h"
#include "cli/traces/context.h"
#include "cli/traces/core_reading.h"
#include "cli/traces/index_file.h"
#include "core/base/error.h"
#include "core/core_trace/plain_counts.h"
#include "output/export/block_vector_writer.h"
#include "output/export/qtrace_writer.h"
#include "output/io/input_file.h"
#include "output/io/progress.h"
#include "output/io/text_output.h"
#include "output/print/core_fields_printer.h"
#include "output/print/csv_printer.h"
#include "output/print/json_printer.h"
#include "output/print/open_parts.h"
#include "output/print/parallel_decode.h"
#include "output/print/selected_printer.h"
#include "output/print/selecting_sink.h"
#include "output/print/text_printer.h"
#include "output/recording/input_guard.h"
#include "output/report/decode_report.h"
#include "output/symbols/disassembler.h"

namespace htmtrace {
namespace {

constexpr uint64_t kUsualInterval = 10'000'000;
// The instructions in these bytes have at most 32 MB of names (SymbolTable::kMostNameBytes).
constexpr size_t kNamedFeedBytes = 4 << 10;

class Decode {
 public:
  Decode(const DecodeOptions& options, TextOutput output, Pager& pager)
      : options_(options), output_(std::move(output)), pager_(pager) {
    if (options_.disassemble || needs_.assembler) Disassembler::of_thread();  // reports its lack
  }

  int run() {
    std::optional<ScratchFile> spool;
    const std::vector<ChosenTrace> traces =
        choose_traces(options_.traces.paths, options_.traces.filter, spool);
    if (for_simulators(options_.format) && traces.size() > 1) {
      throw Error("cannot write several traces to one file: simulator formats hold one trace")
          .hint("select one with --node, --chip and --core");
    }
    for (const ChosenTrace& trace : traces) {
      if (traces.size() > 1 && options_.format == DecodeFormat::kText && !options_.summary) {
        output_.put(fmt::format("# target {}\n", trace.describe()));
      }
      decode(trace);
      if (output_.reader_gone()) break;
    }
    output_.finish();
    pager_.wait();
    if (names_.lines() != nullptr) warn_of_lines(names_.lines()->problems());
    if (output_.reader_gone() && !options_.traces.counts_for_status()) return kExitDone;
    return account_.finish(tell_missing(traces, options_.traces.context));
  }

 private:
  void decode(const ChosenTrace& trace) {
    const ChosenTrace::OfManifest& manifest = manifest_of(trace);
    const HtmType type = type_of(options_.traces.context, trace, manifest).value_or(HtmType::kCore);
    if (type == HtmType::kLlat) {
      throw Error(fmt::format("cannot decode {}: it is an llat trace, whose format is not public",
                              trace.name()))
          .hint("to decode it as a core trace anyway, pass --type core");
    }
    const TranslationMap map = load_map(options_.traces.context, trace, manifest);
    if (type == HtmType::kNest) return decode_bus(trace, map);
    check_core_selection(options_.traces.nest, trace.name());
    if (options_.format == DecodeFormat::kHtmdecode) {
      throw Error("cannot write htmdecode lines of " + trace.name() +
                  ": the format requires a nest trace")
          .hint("to decode it as a nest trace anyway, pass --type nest");
    }
    check_core_fields(options_.fields, trace.name());
    heading(!options_.fields.empty() ? fields_heading_
            : options_.symbols       ? kCsvHeadingWithSymbols
                                     : kCsvHeading);
    names_.enter(trace);
    if (finds_processes_) owners_ = load_owners(trace, options_.traces);
    InputFile input = trace.open();
    TraceBytes bytes = bytes_of(trace, input);
    if (options_.summary) return summarize(bytes, map);
    if (!options_.fields.empty()) return print_fields(trace, bytes, map);
    switch (options_.format) {
      case DecodeFormat::kText:
        return print(bytes, map, [this](TextOutput& output) {
          return TextPrinter(output, {.stamps = options_.stamps,
                                      .modes = options_.modes,
                                      .disassemble = options_.disassemble,
                                      .symbols = names_.symbols()});
        });
      case DecodeFormat::kJson:
        return print(bytes, map, [this, name = trace.short_name()](TextOutput& output) {
          return JsonPrinter(output, name, options_.stamps, names_.symbols());
        });
      case DecodeFormat::kCsv:
        return print(bytes, map, [this, name = trace.short_name()](TextOutput& output) {
          return CsvPrinter(output, name, names_.symbols());
        });
      case DecodeFormat::kQtrace:
        return write_qtrace(bytes, map);
      case DecodeFormat::kBlockVectors:
        return write_block_vectors(bytes, map);
      default:
        return;  // refused above, or not decoded here
    }
  }

  TraceBytes bytes_of(const ChosenTrace& trace, InputFile& input) const {
    // Earlier walks complete later walks, and earlier accesses prove the process of later code.
    static const Selection all;
    const bool whole = options_.walks || finds_processes_;
    return selected_bytes(trace, input, whole ? all : options_.traces.selection, options_.limit,
                          options_.file_order);
  }

  void print_fields(const ChosenTrace& trace, TraceBytes& bytes, const TranslationMap& map) {
    print(bytes, map, [this, name = trace.short_name()](TextOutput& output) {
      return CoreFieldsPrinter(output, {.format = fields_format(options_.format),
                                        .fields = options_.fields,
                                        .target = name,
                                        .symbols = names_.symbols(),
                                        .lines = names_.lines()});
    });
  }

  // Several threads can print the instructions if they can select from parts of the trace and no
  // field depends on all earlier instructions. Source lines need one thread: each part would search
  // for them again, which takes longer than the threads save.
  // After the reader has left, the threads do not count the selected instructions, so
  // counts_for_status() requires one thread.
  bool in_parts(const TraceBytes& bytes) const {
    return selects_in_parts(options_.traces.selection, bytes) && !options_.walks && !needs_.place &&
           !needs_.process && !needs_.lines && options_.limit == DecodeOptions::kNoLimit &&
           !options_.traces.counts_for_status();
  }

  static constexpr auto kNothing = [](const auto&) {};

  // Calls at_end(printer) after the trace. Several threads omit the call if the reader has gone.
  template <class MakePrinter, class AtEnd = decltype(kNothing)>
  void print(TraceBytes& bytes, const TranslationMap& map, const MakePrinter& make_printer,
             const AtEnd& at_end = kNothing) {
    using Printer = std::invoke_result_t<MakePrinter, TextOutput&>;
    const bool everything = options_.traces.selection.everything();
    if (in_parts(bytes) && useful_threads(bytes, options_.traces.threads, kPartBytes) > 1) {
      if (everything) return print_in_parts(bytes, map, make_printer, at_end);
      if constexpr (!FollowsPrinter<Printer>) return print_selected(bytes, map, make_printer);
    }
    auto printer = make_printer(output_);
    select_into(printer, bytes, map);
    if constexpr (FollowsPrinter<Printer>) printer.finish();
    at_end(printer);
  }

  void summarize(TraceBytes& bytes, const TranslationMap& map) {
    if (options_.traces.selection.everything()) {
      return print(bytes, map, [](TextOutput&) { return CountingSink(); });
    }
    const uint64_t before = account_.selected();
    print(bytes, map, [](TextOutput&) { return NoPrinter(); });
    output_.put(
        fmt::format("  {:<28} {:>16}\n", "instructions selected", account_.selected() - before));
  }

  template <class MakePrinter, class AtEnd>
  void print_in_parts(TraceBytes& bytes, const TranslationMap& map, const MakePrinter& make_printer,
                      const AtEnd& at_end) {
    ParallelLimits limits;
    if (names_.symbols() != nullptr) limits.feed_bytes = kNamedFeedBytes;
    const std::optional<CoreStatistics> statistics = decode_in_parts(
        {.bytes = bytes,
         .map = map,
         .threads = options_.traces.threads,
         .limits = limits,
         .progress = progress_},
        make_printer,
        [this](std::string_view text) {
          output_.put_large(text);
          return !output_.reader_gone();
        },
        at_end);
    if (statistics) add(bytes, *statistics, map);
  }

  template <class MakePrinter>
  void print_selected(TraceBytes& bytes, const TranslationMap& map,
                      const MakePrinter& make_printer) {
    using Printer = SelectedPrinter<std::invoke_result_t<MakePrinter, TextOutput&>>;
    OpenParts parts(options_.traces.selection, place_of_begin(bytes));
    std::optional<uint64_t> selected;
    print_in_parts(
        bytes, map,
        [&, these = names_.selected()](TextOutput& output) {
          return Printer(make_printer, output, parts, these);
        },
        [&](const Printer& printer) { selected = printer.selected(); });
    if (selected) account_.add_selected(*selected, bytes.file());
  }

  template <HasParts Next>
  void count(Next& next, TraceBytes& bytes, const TranslationMap& map) {
    uint64_t selected = 0;
    const std::optional<CoreStatistics> statistics = count_in_parts(
        {.bytes = bytes, .map = map, .threads = options_.traces.threads, .progress = progress_},
        options_.traces.selection, names_.selected(), next, selected,
        [this] { return !output_.reader_gone(); });
    if (!statistics) return;
    add(bytes, *statistics, map);
    account_.add_selected(selected, bytes.file());
  }

  // With a memory map, pages are logical: most real addresses need more bits than the format has.
  void write_qtrace(TraceBytes& bytes, const TranslationMap& map) {
    using Pages = QtraceWriter::Pages;
    const Pages by_map = map.ranges().empty() ? Pages::kReal : Pages::kLogical;
    QtraceCounts counts;
    print(
        bytes, map,
        [pages = options_.pages.value_or(by_map)](TextOutput& output) {
          return QtraceWriter(output, pages);
        },
        [&](const QtraceWriter& writer) { counts = writer.counts(); });
    if (!options_.traces.quiet && !output_.reader_gone()) print_text(describe(counts));
  }

  void write_block_vectors(TraceBytes& bytes, const TranslationMap& map) {
    std::optional<TextOutput> list;
    if (!options_.blocks.empty()) {
      check_is_no_input(options_.blocks, options_.traces.paths);
      list.emplace(TextOutput::create(options_.blocks, options_.traces.existing()));
    }
    BlockVectorWriter writer(output_, options_.interval.value_or(kUsualInterval));
    in_parts(bytes) ? count(writer, bytes, map) : select_into(writer, bytes, map);
    writer.finish();
    if (list) {
      writer.put_blocks(*list);
      list->finish();
    }
    if (!options_.traces.quiet && !output_.reader_gone()) {
      print_text(describe(writer.blocks(), writer.intervals()));
    }
  }

  // Prints the CSV heading, unless the preceding trace has the same heading.
  void heading(std::string_view names) {
    if (options_.format == DecodeFormat::kCsv && heading_ != names) output_.put(names);
    heading_ = names;
  }

  void decode_bus(const ChosenTrace& trace, const TranslationMap& map) {
    check_nest_output(options_, trace.name());
    heading(options_.fields.empty() ? kNestCsvHeading : fields_heading_);
    const NestJob job = {.trace = trace,
                         .options = options_.traces.nest,
                         .selection = options_.traces.selection,
                         .map = map,
                         .wishes = {.format = nest_format(options_.format),
                                    .stamps = options_.stamps,
                                    .target = trace.short_name()},
                         .fields = options_.fields,
                         .fields_format = fields_format(options_.format),
                         .limit = options_.limit,
                         .summary = options_.summary,
                         .file_order = options_.file_order,
                         .progress = progress_,
                         .quiet = options_.traces.quiet,
                         .threads = std::min(options_.traces.threads, kMostDecodeThreads)};
    const NestResult result = decode_nest(job, output_);
    account_.add(result, map.report());
  }

  template <class Printer>
  void select_into(Printer& printer, TraceBytes& bytes, const TranslationMap& map) {
    if (options_.traces.selection.everything() && !needs_.place && !needs_.process) {
      return decode_into(printer, bytes, map);
    }
    SelectingSink sink(options_.traces.selection, printer, names_.selected());
    if (owners_) sink.find_processes(*owners_, ProcessSelection(options_.traces.processes));
    sink.begin_at(place_of_begin(bytes));
    decode_into(sink, bytes, map);
    sink.finish();
    account_.add_selected(sink.selected(), bytes.file());
    warn_of_contradictions(sink.contradictions(), bytes.file().name());
  }

  template <class Sink>
  void decode_into(Sink& sink, TraceBytes& bytes, const TranslationMap& map) {
    const CoreStatistics statistics = decode_bytes(
        {.bytes = bytes,
         .map = map,
         .limit = options_.limit,
         .walks = options_.walks ? CoreReading::Walks::kComplete : CoreReading::Walks::kNone,
         .progress = progress_},
        sink, [this] { return !output_.reader_gone(); });
    if (!output_.reader_gone()) add(bytes, statistics, map);
  }

  void add(const TraceBytes& bytes, const CoreStatistics& statistics, const TranslationMap& map) {
    if (bytes.restart() && !options_.traces.quiet) {
      output_.flush();
      tell_part(bytes.file());
    }
    account_.add(bytes, statistics, map.report());
  }

  const DecodeOptions& options_;
  TextOutput output_;
  Pager& pager_;
  // No progress line if the events go to a terminal: the events show the progress.
  const Progress::Style progress_ =
      options_.traces.output.empty() && (pager_.running() || ::isatty(STDOUT_FILENO) == 1)
          ? Progress::Style::kNone
          : options_.traces.progress();
  std::optional<PageOwners> owners_;  // of the trace, if the output or the selection needs them
  std::string_view heading_;          // the last printed heading
  const CoreFieldNeeds needs_ = needs_of(options_.fields);
  DecodeNames names_{options_, needs_};
  const bool finds_processes_ = needs_.process || options_.traces.selection.by_process;
  const std::string fields_heading_ = fields_heading(options_.fields);
  DecodeAccount account_{options_, output_};
};

int decode(const CLI::App& app, const DecodeOptions& options, Pager& pager) {
  if (is_one_dispatch_log(options.traces.paths)) {
    pager.wait();  // the entries and their messages belong together
    return decode_dispatch_log(app, options);
  }
  if (for_engines(options.format)) return decode_to_rows(options);
  if (options.format == DecodeFormat::kPerf) return decode_to_perf(options);
  check_terminal(options);
  TextOutput output = open_output(options.traces, files_of(options.names));
  return Decode(options, std::move(output), pager).run();
}

}  // namespace

Action declare_decode(CLI::App& app) {
  auto options = std::make_shared<DecodeOptions>();
  declare_options(app, *options);
  app.parse_complete_callback([options] { check(*options); });
  return [&app, options] {
    Reach more{.outputs = {options->blocks}};
    if (for_engines(options->format)) more.output_folders = {options->traces.output};
    Pager pager(options->format == DecodeFormat::kText && options->traces.output.empty() &&
                !options->terminal.no_pager);
    std::vector<std::string> inputs;
    if (options->needs_names()) inputs = inputs_of(options->names, options->traces.paths);
    if (needs_of(options->fields).lines) add_debug_inputs(options->lines, inputs);
    confine(options->traces, inputs, more);
    return decode(app, *options, pager);
  };
}

}  // namespace htmtrace
