// SPDX-License-Identifier: GPL-2.0-or-later
// htmtrace index: writes an index, so that decoding a slice of a large trace needs only a seek.
#include "core/selection/index.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "cli/commands.h"
#include "cli/file_mode.h"
#include "cli/help.h"
#include "cli/messages.h"
#include "cli/traces/bytes.h"
#include "cli/traces/choice.h"
#include "cli/traces/context.h"
#include "cli/traces/index_file.h"
#include "cli/traces/nest_options.h"
#include "cli/traces/nest_reading.h"
#include "cli/traces/reach.h"
#include "cli/units.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/nest_trace/layout.h"
#include "core/selection/indexer.h"
#include "output/io/progress.h"
#include "output/io/trace_sink.h"
#include "output/recording/earlier.h"

namespace htmtrace {
namespace {

// Decoding this many bytes takes a few milliseconds, and a thousand index entries are small.
constexpr uint64_t kLeastInterval = 256 << 10;
constexpr uint64_t kUsualPlaces = 1024;
constexpr uint64_t kBusLines = 2 * nest::kLineBytes;  // one line of each engine

struct IndexOptions {
  std::vector<std::string> paths = {"."};
  TargetFilter filter;
  std::optional<HtmType> type;
  std::optional<nest::Layout> layout;
  std::string interval;
  bool no_sandbox = false;
};

// Replaces an existing index only after the new one is complete.
void write(const std::filesystem::path& path, const std::vector<std::byte>& bytes) {
  TraceSink sink = TraceSink::create(path, Existing::kReplace);
  sink.append(bytes);
  sink.finish();
  if (sink.error()) throw Error("cannot write " + path.string(), *sink.error());
}

class Index {
 public:
  explicit Index(const IndexOptions& options) : options_(options) {}

  int run() {
    std::optional<ScratchFile> spool;
    const std::vector<ChosenTrace> traces = choose_traces(options_.paths, options_.filter, spool);
    const ContextOptions context{.translation = {}, .partition = {}, .type = options_.type};
    for (const ChosenTrace& trace : traces) {
      InputFile input = trace.open();
      const auto identity = input.identity();
      if (!identity) {
        throw Error("cannot index " + trace.name() + ": not a single uncompressed trace file")
            .hint("decompress it (zstd -d), or record to a folder (htmtrace record -o DIR)");
      }
      const HtmType type = type_of(context, trace, manifest_of(trace)).value_or(HtmType::kCore);
      if (type == HtmType::kLlat) {
        throw Error("cannot index " + trace.name() +
                    ": it is an llat trace, whose format is not public");
      }
      interval_ = interval(identity->size_bytes);
      const std::string found =
          type == HtmType::kNest ? nest(trace, input, *identity) : core(trace, input, *identity);
      print_note(fmt::format("{}: {}, {}", index_path(trace).string(),
                             counted(std::filesystem::file_size(index_path(trace)), "byte"),
                             found));
    }
    return tell_missing(traces, context) ? kExitIncomplete : kExitDone;
  }

 private:
  uint64_t interval(uint64_t size_bytes) const {
    if (!options_.interval.empty()) return parse_size(options_.interval).value_or(kLeastInterval);
    return std::max(kLeastInterval, size_bytes / kUsualPlaces);
  }

  std::string core(const ChosenTrace& trace, InputFile& input, const FileIdentity& identity) {
    CoreIndexer indexer(interval_);
    TraceBytes bytes(input, /*file_order=*/false);
    read([&](std::span<std::byte> piece) { return bytes.read(piece); }, indexer, identity);
    CoreIndex index = indexer.finish();
    index.file = identity;
    index.oldest = bytes.wrapped_at().value_or(0);
    if (indexer.statistics().no_tags()) {
      tell_no_tags(trace.name());
    }
    finish(trace, identity, pack(index));
    return fmt::format("{}, {}", counted(index.instructions, "instruction"),
                       counted(index.restarts.size(), "entry"));
  }

  std::string nest(const ChosenTrace& trace, InputFile& input, const FileIdentity& identity) {
    NestReading reading(trace, options_.layout);  // detects the layout
    if (reading.had_wrapped()) {
      throw Error("cannot index " + trace.name() + ": the nest trace has wrapped")
          .hint("decode and report read a wrapped trace without an index");
    }
    NestIndexer indexer(reading.layout(), reading.engines(), interval_);
    read(
        [&](std::span<std::byte> piece) {
          size_t used = 0;
          while (used < piece.size()) {
            const size_t got = input.read(piece.subspan(used));
            if (got == 0) break;
            used += got;
          }
          return used;
        },
        indexer, identity);
    NestIndex index = indexer.finish();
    index.file = identity;
    finish(trace, identity, pack(index));
    return fmt::format("layout {}, {}, {}", nest::layout_name(index.layout),
                       counted(indexer.statistics().commands, "command"),
                       counted(index.restarts[0].size(), "entry"));
  }

  template <class Read, class Indexer>
  void read(const Read& next, Indexer& indexer, const FileIdentity& identity) const {
    Progress progress(stderr);
    const uint64_t whole_lines = std::max(interval_ / kBusLines * kBusLines, kBusLines);
    std::vector<std::byte> piece(std::min<uint64_t>(InputFile::kPieceBytes, whole_lines));
    uint64_t offset = 0;
    while (const size_t got = next(piece)) {
      indexer.take(std::span(piece).first(got));
      offset += got;
      progress.decoding(offset, identity.size_bytes, "index");
    }
  }

  // The index is valid only if the file did not change during indexing.
  static void finish(const ChosenTrace& trace, const FileIdentity& identity,
                     const std::vector<std::byte>& bytes) {
    if (trace.open().identity() != identity) {
      throw Error("cannot index " + trace.name() + ": the trace changed during indexing")
          .hint("wait for the end of the recording");
    }
    write(index_path(trace), bytes);
  }

  const IndexOptions& options_;
  uint64_t interval_ = 0;
};

// Each index is written beside its trace.
void confine(const IndexOptions& options) {
  Reach reach = reach_of(options.paths);
  for (const std::string& path : options.paths) {
    std::error_code failure;
    const bool is_folder = std::filesystem::is_directory(path, failure);
    reach.outputs.emplace_back(is_folder ? path + "/index" : path + ".index");
    if (!is_folder) continue;
    for (const std::string& name : numbered_recordings(path)) {
      reach.outputs.push_back(std::filesystem::path(path) / name / "index");
    }
  }
  enter_sandbox(reach);
}

}  // namespace

Action declare_index(CLI::App& app) {
  auto options = std::make_shared<IndexOptions>();
  app.option_defaults()->group(kInputGroup);
  app.add_option("PATH", options->paths, "Recording folder or trace file [.]")->type_name("PATH");
  app.add_option("--node", options->filter.node, "Read only the traces of this node")
      ->type_name("N");
  app.add_option("--chip", options->filter.chip, "Read only the traces of this chip")
      ->type_name("N");
  app.add_option("--core", options->filter.core, "Read only the traces of this core")
      ->type_name("N");
  declare_type(app, options->type);
  declare_layout(app, options->layout);
  app.option_defaults()->group(kOutputGroup);
  app.add_option("--interval", options->interval,
                 "Trace bytes between index entries [size/1024, at least 256K]")
      ->type_name("SIZE")
      ->check([](const std::string& text) {
        return parse_size(text).value_or(0) != 0 ? "" : text + " is not a size such as 4M";
      });
  declare_file_mode(app);
  app.footer(
      "Example:\n"
      "  htmtrace index DIR\n"
      "  htmtrace decode --instructions 5000000-5000999 DIR");
  app.add_flag(kNoSandbox, options->no_sandbox, kNoSandboxHelp);
  return [options] {
    if (!options->no_sandbox) confine(*options);
    return Index(*options).run();
  };
}

}  // namespace htmtrace
