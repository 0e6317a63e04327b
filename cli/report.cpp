// SPDX-License-Identifier: GPL-2.0-or-later
// htmtrace report: what is hot in traces.
#include <fmt/core.h>
#include <unistd.h>

#include <bit>
#include <charconv>
#include <csignal>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/index_file.h"
#include "cli/messages.h"
#include "cli/nest_report.h"
#include "cli/stream_choice.h"
#include "cli/trace_bytes.h"
#include "cli/trace_choice.h"
#include "cli/trace_context.h"
#include "cli/trace_options.h"
#include "cli/units.h"
#include "core/call_stacks.h"
#include "core/core_decoder.h"
#include "core/error.h"
#include "output/elf_symbols.h"
#include "output/hot_spots_report.h"
#include "output/input_file.h"
#include "output/kallsyms.h"
#include "output/progress.h"
#include "output/selecting_sink.h"
#include "output/symbol_files.h"
#include "output/text_output.h"

namespace htmtrace {
namespace {

constexpr uint64_t kMostKallsymsBytes = 256 << 20;

using Format = ReportFormat;

struct ReportOptions {
  TraceOptions traces;
  HotSpots::Wishes wishes;
  std::vector<std::string> units = {"128", "64K"};
  std::string kallsyms;
  std::vector<std::string> elf;
  Format format = Format::kText;
  size_t top = 20;
  bool stacks = false;
};

// "FILE" or "FILE@ADDRESS".
void add_elf(const std::string& text, SymbolTable& table) {
  const size_t at = text.rfind('@');
  if (at != std::string::npos) {
    std::string_view digits = std::string_view(text).substr(at + 1);
    if (digits.starts_with("0x")) digits.remove_prefix(2);
    uint64_t address = 0;
    const char* end = digits.data() + digits.size();
    const auto [stop, failure] = std::from_chars(digits.data(), end, address, 16);
    if (failure == std::errc{} && stop == end) {
      add_elf_symbols(text.substr(0, at), address, table);
      return;
    }
  }
  add_elf_symbols(text, std::nullopt, table);
}

// What `record --symbols` left beside the traces, or beside the folders of several recordings.
std::string recorded_kallsyms(const std::vector<std::string>& paths) {
  namespace fs = std::filesystem;
  std::error_code failure;
  for (const fs::path path : paths) {
    const fs::path folder = fs::is_directory(path, failure) ? path : path.parent_path();
    for (const fs::path& file : {folder / kKallsymsName, folder / ".." / kKallsymsName}) {
      if (path != "-" && fs::is_regular_file(file, failure)) return file.string();
    }
  }
  return {};
}

SymbolTable load_symbols(const ReportOptions& options) {
  SymbolTable table;
  const std::string kallsyms =
      options.kallsyms.empty() ? recorded_kallsyms(options.traces.paths) : options.kallsyms;
  if (!kallsyms.empty()) {
    const std::vector<std::byte> text = InputFile::open(kallsyms).read_all(kMostKallsymsBytes);
    const KallsymsReport report =
        add_kallsyms({reinterpret_cast<const char*>(text.data()), text.size()}, table);
    if (report.symbols == 0) {
      print_warning(fmt::format("{} names no address{}", kallsyms,
                                report.hidden != 0
                                    ? ": whoever copied it was not allowed to see them (be root)"
                                    : ": is it a copy of /proc/kallsyms?"));
    } else if (report.malformed != 0) {
      print_warning(fmt::format("{} has {} lines that are no symbols", kallsyms, report.malformed));
    }
  }
  for (const std::string& file : options.elf) add_elf(file, table);
  table.finish();
  return table;
}

class Report {
 public:
  explicit Report(const ReportOptions& options)
      : options_(options),
        symbols_(load_symbols(options)),
        spots_(options.wishes, symbols_),
        piece_(new std::byte[InputFile::kPieceBytes]) {}

  int run() {
    Spool spool;
    const std::vector<ChosenTrace> traces =
        choose_traces(options_.traces.paths, options_.traces.filter, spool);
    TextOutput output = open_output(options_.traces);
    output.put(all_nest(traces) ? bus(traces) : cores(traces));
    output.finish();
    if (output.reader_gone()) return kExitDone;
    print_note(describe(totals_));
    return incomplete_ ? kExitIncomplete : kExitDone;
  }

 private:
  // Traces of cores and of buses make no common report.
  bool all_nest(const std::vector<ChosenTrace>& traces) {
    size_t nest = 0;
    for (const ChosenTrace& trace : traces) {
      if (tell_missing(trace)) incomplete_ = true;
      const auto type = type_of(options_.traces.context, trace, manifest_of(trace));
      nest += type == HtmType::kNest ? 1 : 0;
      if (type == HtmType::kLlat) {
        throw Error("cannot report on " + trace.name() +
                    ": it is an llat trace, whose format is not public");
      }
    }
    if (nest != 0 && nest != traces.size()) {
      throw Error("cannot report on core and nest traces together")
          .hint("choose some with --node, --chip and --core");
    }
    return nest != 0;
  }

  std::string bus(const std::vector<ChosenTrace>& traces) {
    if (options_.stacks) throw Error("cannot follow calls: nest traces have none");
    if (options_.wishes.key == DataKey::kEffective) {
      throw Error("cannot report by effective address: nest traces have none");
    }
    NestReportResult result =
        report_nest({.traces = traces,
                     .context = options_.traces.context,
                     .options = options_.traces.nest,
                     .selection = options_.traces.selection,
                     .wishes = {.logical = options_.wishes.key == DataKey::kLogical,
                                .units = options_.wishes.units,
                                .entries = options_.wishes.entries},
                     .format = options_.format,
                     .top = options_.top});
    totals_ = result.totals;
    incomplete_ |= result.incomplete;
    return std::move(result.report);
  }

  std::string call_stacks(const std::vector<ChosenTrace>& traces) {
    CallStacks stacks(symbols_);
    for (const ChosenTrace& trace : traces) {
      stacks.skipped();
      read(trace, stacks);
    }
    print_note(fmt::format("call stacks: begun anew {} times, {} cut, {} instructions left out",
                           stacks.restarts(), stacks.cut(), stacks.unknown()));
    return stacks.folded();
  }

  std::string cores(const std::vector<ChosenTrace>& traces) {
    if (options_.stacks) return call_stacks(traces);
    for (const ChosenTrace& trace : traces) read(trace, spots_);
    const HotSpotsReport report{
        .spots = spots_, .totals = totals_, .traces = traces.size(), .top = options_.top};
    if (options_.format == Format::kText) return report.to_text();
    return options_.format == Format::kJson ? report.to_json() : report.to_csv();
  }

  template <class Next>
  void read(const ChosenTrace& trace, Next& next) {
    InputFile input = trace.open();
    const TranslationMap map = load_map(options_.traces.context, trace, manifest_of(trace));
    SelectingSink sink(options_.traces.selection, next);
    CoreDecoder decoder(map, sink);
    TraceBytes bytes =
        selected_bytes(trace, input, options_.traces.selection, Selection::kAny, false);
    if (const auto& restart = bytes.restart()) {
      sink.begin_at(restart->place);
      decoder.start_at(restart->offset);
      tell_part(input);
    }
    Progress progress(stderr);
    const std::span<std::byte> piece(piece_.get(), InputFile::kPieceBytes);
    while (!decoder.finished()) {
      const size_t got = bytes.read(piece);
      if (got == 0) break;
      decoder.feed(piece.first(got));
      progress.decoding(decoder.offset(), input.size_bytes().value_or(0),
                        fmt::format("{} losses", decoder.statistics().loss_stamps));
    }
    decoder.finish();
    sink.finish();
    CoreStatistics statistics = decoder.statistics();
    if (bytes.restart()) statistics.bytes -= bytes.restart()->offset;
    totals_.add(statistics);
    if (statistics.incomplete() || map.report().damaged()) incomplete_ = true;
    if (tell_trouble(input)) incomplete_ = true;
    if (statistics.no_tags()) {
      print_warning(fmt::format("no core-trace record in {}", input.name()));
    }
  }

  const ReportOptions& options_;
  SymbolTable symbols_;
  HotSpots spots_;
  std::unique_ptr<std::byte[]> piece_;
  DecodeTotals totals_;
  bool incomplete_ = false;
};

void take_units(ReportOptions& options) {
  options.wishes.units.clear();
  for (const std::string& text : options.units) {
    const auto size = parse_size(text);
    if (!size || !std::has_single_bit(*size)) {
      throw CLI::ValidationError("--unit", text + " is no power of two such as 128, 4K or 16M");
    }
    options.wishes.units.push_back(*size);
  }
  if (options.stacks && options.format != Format::kText) {
    throw CLI::ValidationError("--stacks", "folded stacks are text");
  }
  if (options.stacks && options.traces.selection.last != Selection::kAny) {
    throw CLI::ValidationError("--stacks", "cannot be used with --last");
  }
  if (!options.elf.empty() && !can_read_elf()) {
    throw CLI::ValidationError("--elf", "htmtrace was built without libelf");
  }
}

void declare_tables(CLI::App& app, ReportOptions& options) {
  static const std::map<std::string, DataKey> keys = {
      {"logical", DataKey::kLogical}, {"real", DataKey::kReal}, {"effective", DataKey::kEffective}};
  app.add_option("--address", options.wishes.key,
                 "tell data apart by their logical, real or effective address (default: logical)")
      ->transform(CLI::CheckedTransformer(keys))
      ->type_name("KIND")
      ->default_str("");
  app.add_option("--unit", options.units,
                 "count data in units of SIZE bytes, a power of two; one table for each "
                 "(default: 128,64K)")
      ->type_name("SIZE,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->default_str("");
  app.add_option("--top", options.top, "lines of each table (default: 20)")
      ->type_name("N")
      ->default_str("");
  app.add_option("--entries", options.wishes.entries,
                 "places that each table keeps in memory (default: 65536)")
      ->type_name("N")
      ->check(CLI::Range(size_t{16}, size_t{1} << 28))
      ->default_str("");
  app.add_flag("--stacks", options.stacks,
               "instead of tables, folded call stacks: for flame graphs");
  app.add_option(
         "--kallsyms", options.kallsyms,
         "names of the kernel: a copy of /proc/kallsyms (default: what record --symbols left)")
      ->type_name("FILE");
  app.add_option("--elf", options.elf,
                 "names of a program or library, and where its first segment was loaded")
      ->type_name("FILE[@ADDRESS]")
      ->allow_extra_args(false);
}

}  // namespace

Action declare_report(CLI::App& app) {
  auto options = std::make_shared<ReportOptions>();
  declare_traces(app, options->traces);
  declare_tables(app, *options);
  static const std::map<std::string, Format> formats = {
      {"text", Format::kText}, {"json", Format::kJson}, {"csv", Format::kCsv}};
  app.add_option("--format", options->format, "text, json or csv (default: text)")
      ->transform(CLI::CheckedTransformer(formats))
      ->type_name("FORMAT")
      ->default_str("");
  app.footer(
      "Which addresses are hot, and which code touches them. See htmtrace-report(1).\n"
      "Exit status: 0 done, 1 failed, 2 usage, 3 something was lost or could not be decoded.");
  app.parse_complete_callback([options] { take_units(*options); });
  return [options] {
    std::signal(SIGPIPE, SIG_IGN);  // a reader that has gone is an errno of write()
    return Report(*options).run();
  };
}

}  // namespace htmtrace
