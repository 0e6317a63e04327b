// SPDX-License-Identifier: GPL-2.0-or-later
// htmtrace annotate: source and assembly of functions.
#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/help.h"
#include "cli/messages.h"
#include "cli/number_from.h"
#include "cli/one_of.h"
#include "cli/terminal.h"
#include "cli/traces/choice.h"
#include "cli/traces/core_reading.h"
#include "cli/traces/lines.h"
#include "cli/traces/named_symbols.h"
#include "cli/traces/options.h"
#include "core/analysis/address_counts.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/plain_text.h"
#include "output/source_lines/source_text.h"
#include "output/source_report/annotate_report.h"

namespace htmtrace {
namespace {

enum class AnnotateFormat : uint8_t { kText, kJson };

struct AnnotateOptions {
  static constexpr size_t kEntries = 1 << 16;

  TraceOptions traces;
  std::string function;  // empty: the functions with the most instructions
  size_t top = 1;
  size_t entries = kEntries;
  SymbolOptions symbols;
  LineOptions lines;
  std::vector<std::string> sources;
  AnnotateFormat format = AnnotateFormat::kText;
  TerminalOptions terminal;
};

// The first argument is a function, unless a file has this name.
void take_function(AnnotateOptions& options) {
  std::vector<std::string>& paths = options.traces.paths;
  std::error_code failure;
  if (paths.empty() || paths.front() == "-" || std::filesystem::exists(paths.front(), failure) ||
      paths.front().find('/') != std::string::npos) {
    return;
  }
  options.function = paths.front();
  paths.erase(paths.begin());
  if (paths.empty()) paths.emplace_back(".");
}

class Annotate {
 public:
  explicit Annotate(const AnnotateOptions& options)
      : options_(options), names_(options.symbols, options.traces) {
    if (symbols_.empty()) {
      throw Error("cannot annotate: no symbols found")
          .hint("pass --elf PROGRAM, or record with --symbols");
    }
    if (!options_.function.empty()) {
      const NamedSymbols names(symbols_, "annotate", /*of_code=*/true, options.traces.quiet);
      names.add(options_.function, chosen_.emplace());
      chosen_->finish();
    }
  }

  int run(Pager& pager) {
    std::optional<ScratchFile> spool;
    const std::vector<ChosenTrace> traces =
        choose_traces(options_.traces.paths, options_.traces.filter, spool);
    TextOutput output = open_output(options_.traces, files_of(options_.symbols));
    AddressCounts counts(options_.entries, symbols_);
    for (const ChosenTrace& trace : traces) {
      check_is_core(trace);
      read(trace, counts);
      counts.end_trace();
    }
    std::vector<ExecutedFunction> functions = executed(counts);
    if (functions.size() > options_.top && !chosen_) functions.resize(options_.top);
    SourceFiles lines(symbols_, folders_of(options_.lines));
    SourceText sources({options_.sources.begin(), options_.sources.end()});
    const AnnotateReport report{.counts = counts,
                                .symbols = symbols_,
                                .lines = lines,
                                .sources = sources,
                                .functions = std::move(functions),
                                .totals = totals_,
                                .traces = traces.size()};
    const auto put = [&output](std::string_view text) { output.put(text); };
    options_.format == AnnotateFormat::kText ? report.put_text(put) : report.put_json(put);
    output.finish();
    pager.wait();
    if (can_read_lines()) warn_of_lines(lines.problems());
    if (!options_.traces.quiet) note_missing(sources);
    if (output.reader_gone() && !options_.traces.counts_for_status()) return kExitDone;
    incomplete_ |= tell_missing(traces, options_.traces.context);
    if (!options_.traces.quiet) print_note(describe(totals_));
    return exit_status(options_.traces, totals_, incomplete_);
  }

 private:
  void check_is_core(const ChosenTrace& trace) const {
    const HtmType type =
        type_of(options_.traces.context, trace, manifest_of(trace)).value_or(HtmType::kCore);
    if (type == HtmType::kCore) return;
    throw Error(fmt::format("cannot annotate {}: it is not a core trace", trace.name()))
        .hint("to decode it as a core trace anyway, pass --type core");
  }

  std::vector<ExecutedFunction> executed(const AddressCounts& counts) const {
    std::vector<ExecutedFunction> functions =
        executed_functions(counts, symbols_, chosen_ ? &*chosen_ : nullptr);
    if (!functions.empty()) return functions;
    if (chosen_) {
      throw Error(fmt::format("cannot annotate {}: the trace has no instruction of this function",
                              options_.function))
          .hint("htmtrace report lists the hot functions of a trace");
    }
    throw Error("cannot annotate: no executed instruction belongs to a function with a name")
        .hint("pass --elf PROGRAM of the traced program");
  }

  static void note_missing(const SourceText& sources) {
    const std::vector<std::string> files = sources.missing();
    if (files.empty()) return;
    print_note(
        fmt::format("cannot read the source of {}{}; to show it, pass --source DIR",
                    without_controls(files.front()),
                    files.size() == 1 ? "" : fmt::format(" and {} other files", files.size() - 1)));
  }

  void read(const ChosenTrace& trace, AddressCounts& counts) {
    if (read_core(trace, options_.traces, names_.enter(trace), counts, totals_)) incomplete_ = true;
  }

  const AnnotateOptions& options_;
  TraceNames names_;
  const SymbolTable& symbols_ = names_.symbols();
  std::optional<SymbolSet> chosen_;
  DecodeTotals totals_ = no_totals(options_.traces);
  bool incomplete_ = false;
};

}  // namespace

Action declare_annotate(CLI::App& app) {
  auto options = std::make_shared<AnnotateOptions>();
  declare_traces(app, options->traces);
  app.get_option("PATH")->description("Function, and recording folder or trace file [.]");
  declare_exit_code(app, options->traces);
  app.option_defaults()->group(kReportGroup);
  app.add_option("--top", options->top, "Without a function: the N hottest functions [1]")
      ->type_name("N")
      ->check(number_from(1))
      ->default_str("");
  app.add_option("--entries", options->entries, "Addresses that the counts keep in memory [65536]")
      ->type_name("N")
      ->check(CLI::Range(size_t{16}, size_t{1} << 28).description(""))
      ->default_str("");
  declare_symbols(app, options->symbols);
  declare_debug_folders(app, options->lines);
  app.add_option("--source", options->sources, "Folder of source files")
      ->type_name("DIR")
      ->allow_extra_args(false);
  app.option_defaults()->group(kOutputGroup);
  static const std::map<std::string, AnnotateFormat> formats = {{"text", AnnotateFormat::kText},
                                                                {"json", AnnotateFormat::kJson}};
  app.add_option("--format", options->format, "Format: text, json [text]")
      ->transform(one_of(formats))
      ->type_name("FORMAT")
      ->default_str("");
  declare_pager(app, options->terminal);
  declare_quiet(app, options->traces);
  set_common_options(app, {"--output", "--format", "--top", "--elf", "--source"});
  app.footer(
      "Examples:\n"
      "  htmtrace annotate DIR               shows the hottest function\n"
      "  htmtrace annotate memcpy DIR        shows memcpy");
  app.parse_complete_callback([options] {
    take_function(*options);
    check(options->symbols);
  });
  return [options] {
    const bool screen = options->format == AnnotateFormat::kText && options->traces.output.empty();
    Pager pager(screen && !options->terminal.no_pager);
    std::vector<std::string> inputs = inputs_of(options->symbols, options->traces.paths);
    add_debug_inputs(options->lines, inputs);
    inputs.insert(inputs.end(), options->sources.begin(), options->sources.end());
    confine(options->traces, inputs);
    return Annotate(*options).run(pager);
  };
}

}  // namespace htmtrace
