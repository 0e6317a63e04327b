// SPDX-License-Identifier: GPL-2.0-or-later
// htmtrace decode: core traces to text.
#include <fmt/core.h>
#include <unistd.h>

#include <csignal>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/report.h"
#include "cli/trace_choice.h"
#include "core/core_decoder.h"
#include "core/error.h"
#include "output/decode_report.h"
#include "output/input_file.h"
#include "output/manifest_reader.h"
#include "output/progress.h"
#include "output/text_output.h"
#include "output/text_printer.h"

namespace htmtrace {
namespace {

// Big enough that a system call costs little, small enough to stay in the cache.
constexpr size_t kPieceBytes = 256 << 10;
constexpr uint64_t kMostTranslationBytes = 1 << 30;  // 32 million blocks of memory
constexpr uint64_t kMostManifestBytes = 64 << 20;

struct DecodeOptions {
  std::vector<std::string> paths;
  TargetFilter filter;
  std::string translation;
  std::optional<uint32_t> partition;
  std::string output;
  bool force = false;
  bool stamps = false;
  uint64_t limit = std::numeric_limits<uint64_t>::max();
  bool quiet = false;
};

void warn(const std::string& text) {
  print_note("warning: " + text);
}

bool file_exists(const std::filesystem::path& path) {
  std::error_code failure;
  return std::filesystem::exists(path, failure);
}

// The partition whose logical addresses are wanted: the one that recorded the trace.
std::optional<uint32_t> find_partition(const DecodeOptions& options, const ChosenTrace& trace) {
  if (options.partition) return options.partition;
  const auto path = trace.manifest_path();
  if (!path || !file_exists(*path)) return std::nullopt;
  const ManifestFacts facts = read_manifest(InputFile::open(*path).read_all(kMostManifestBytes));
  if (!facts.problem.empty()) warn(fmt::format("cannot use {}: {}", path->string(), facts.problem));
  return facts.partition_id;
}

void warn_of_map(const TranslationReport& report, const std::string& name,
                 std::optional<uint32_t> partition) {
  if (report.damaged()) warn(fmt::format("{} is damaged; addresses may be missing", name));
  if (report.own_entries != 0) return;
  std::string partitions;
  for (const uint32_t number : report.partitions) partitions += fmt::format(" {}", number);
  if (partitions.empty()) {
    warn(fmt::format("{} has no entries; logical addresses are unknown", name));
  } else if (partition) {
    warn(fmt::format("{} has nothing of partition {}, only of:{}", name, *partition, partitions));
  } else {
    warn(
        fmt::format("{} speaks of partitions{}: choose with --partition N; until then logical "
                    "addresses are unknown",
                    name, partitions));
  }
}

TranslationMap load_map(const DecodeOptions& options, const ChosenTrace& trace) {
  std::optional<std::filesystem::path> path;
  if (!options.translation.empty()) {
    path = options.translation;
  } else if (const auto beside = trace.translation_path(); beside && file_exists(*beside)) {
    path = beside;
  }
  if (!path) return {};
  const std::vector<std::byte> file = InputFile::open(*path).read_all(kMostTranslationBytes);
  const std::optional<uint32_t> partition = find_partition(options, trace);
  TranslationMap map(file, partition);
  warn_of_map(map.report(), path->string(), partition);
  return map;
}

class Decode {
 public:
  Decode(const DecodeOptions& options, TextOutput output)
      : options_(options), output_(std::move(output)) {}

  int run() {
    const std::vector<ChosenTrace> traces = choose_traces(options_.paths, options_.filter);
    for (const ChosenTrace& trace : traces) {
      if (traces.size() > 1) output_.put(fmt::format("# target {}\n", trace.describe()));
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
    InputFile input =
        trace.is_standard_input() ? InputFile::standard_input() : InputFile::open(trace.path);
    const TranslationMap map = load_map(options_, trace);
    TextPrinter printer(output_, options_.stamps);
    CoreDecoder decoder(map, printer);
    decoder.set_instruction_limit(options_.limit);
    Progress progress(stderr);
    std::span<std::byte> piece(piece_.get(), kPieceBytes);
    while (!decoder.finished() && !output_.reader_gone()) {
      const size_t got = input.read(piece);
      if (got == 0) break;
      decoder.feed(piece.first(got));
      if (show_progress_) {
        progress.decoding(decoder.offset(), input.size_bytes().value_or(0),
                          fmt::format("{} losses", decoder.statistics().loss_stamps));
      }
    }
    decoder.finish();
    progress.clear();
    if (!output_.reader_gone()) report(input.name(), decoder.statistics(), map.report());
  }

  void report(const std::string& name, const CoreStatistics& statistics,
              const TranslationReport& map) {
    totals_.add(statistics);
    if (statistics.incomplete() || map.damaged()) incomplete_ = true;
    if (statistics.no_tags()) {
      warn(
          fmt::format("no core-trace record in {}: is it a core trace? (nest and LLAT traces have "
                      "other formats)",
                      name));
    } else if (statistics.bytes == 0) {
      warn(fmt::format("{} is empty", name));
    } else if (statistics.accounted_bytes() == statistics.filler_words * words::kWordBytes) {
      warn(fmt::format("{} holds nothing but zeros", name));
    }
    if (options_.quiet) return;
    output_.flush();  // so that a terminal shows the text before what is said about it
    fmt::print(stderr, "{}\n{}", name, describe(statistics));
    if (map.size_bytes != 0) fmt::print(stderr, "{}", describe(map));
  }

  const DecodeOptions& options_;
  TextOutput output_;
  std::unique_ptr<std::byte[]> piece_{new std::byte[kPieceBytes]};
  // Text on the same terminal shows well enough how it gets on.
  const bool show_progress_ =
      ::isatty(STDERR_FILENO) == 1 && (!options_.output.empty() || ::isatty(STDOUT_FILENO) == 0);
  DecodeTotals totals_;
  bool incomplete_ = false;
};

}  // namespace

Action declare_decode(CLI::App& app) {
  auto options = std::make_shared<DecodeOptions>();
  options->paths = {"."};
  app.add_option("PATH", options->paths,
                 "folder of a recording, trace file, or - for standard input (default: .)");
  app.add_option("--node", options->filter.node, "of a folder, only the traces of this node");
  app.add_option("--chip", options->filter.chip, "of a folder, only the traces of this chip");
  app.add_option("--core", options->filter.core, "of a folder, only the traces of this core");
  app.add_option("--translation", options->translation,
                 "memory map to translate with (default: translation.* beside the trace)")
      ->type_name("FILE");
  app.add_option("--partition", options->partition,
                 "LP index of the traced partition (default: from manifest.json beside the trace)")
      ->type_name("N");
  app.add_option("-o,--output", options->output, "write the text here, not to standard output")
      ->type_name("FILE");
  app.add_flag("--force", options->force, "replace the file of -o");
  app.add_flag("--stamps", options->stamps, "print a line for each stamp, too");
  app.add_option("--limit", options->limit, "stop after N instructions of each trace")
      ->type_name("N")
      ->default_str("");
  app.add_flag("-q,--quiet", options->quiet, "no statistics");
  app.footer(
      "One line per instruction, hexadecimal: ea= op= ra= la=, then dea= dra= dla= for each data\n"
      "address. Dashes stand for what the trace does not tell. See htmtrace-decode(1).\n"
      "Exit status: 0 done, 1 failed, 2 usage, 3 something was lost or could not be decoded.");
  return [options] {
    std::signal(SIGPIPE, SIG_IGN);  // a reader that has gone is an errno of write()
    TextOutput output = options->output.empty()
                            ? TextOutput::standard_output()
                            : TextOutput::create(options->output, options->force);
    return Decode(*options, std::move(output)).run();
  };
}

}  // namespace htmtrace
