// SPDX-License-Identifier: GPL-2.0-or-later
// htmtrace index: what makes a slice of a large trace a seek.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "cli/commands.h"
#include "cli/index_file.h"
#include "cli/messages.h"
#include "cli/nest_options.h"
#include "cli/nest_reading.h"
#include "cli/stream_choice.h"
#include "cli/trace_bytes.h"
#include "cli/trace_choice.h"
#include "cli/trace_context.h"
#include "cli/units.h"
#include "core/error.h"
#include "core/nest_layout.h"
#include "core/trace_index.h"
#include "core/trace_indexer.h"
#include "output/progress.h"
#include "output/trace_sink.h"

namespace htmtrace {
namespace {

// Decoding so much takes some milliseconds, and a thousand places take little room.
constexpr uint64_t kLeastInterval = 256 << 10;
constexpr uint64_t kUsualPlaces = 1024;
constexpr uint64_t kBusLines = 2 * nest::kLineBytes;  // of both engines

struct IndexOptions {
  std::vector<std::string> paths = {"."};
  TargetFilter filter;
  std::optional<HtmType> type;
  std::optional<nest::Layout> layout;
  std::string interval;
};

// Replaces an index that is there only when the new one is whole.
void write(const std::filesystem::path& path, const std::vector<std::byte>& bytes) {
  const std::filesystem::path fresh = path.string() + ".new";
  TraceSink sink = TraceSink::create(fresh, Existing::kReplace);
  sink.append(bytes);
  sink.finish();
  if (const auto error = sink.error()) {
    sink.discard();
    throw Error("cannot write " + fresh.string(), *error);
  }
  std::error_code failure;
  std::filesystem::rename(fresh, path, failure);
  if (failure) throw Error("cannot create " + path.string(), failure.value());
}

class Index {
 public:
  explicit Index(const IndexOptions& options) : options_(options) {}

  int run() {
    Spool spool;
    const std::vector<ChosenTrace> traces = choose_traces(options_.paths, options_.filter, spool);
    const ContextOptions context{.translation = {}, .partition = {}, .type = options_.type};
    for (const ChosenTrace& trace : traces) {
      InputFile input = trace.open();
      const auto identity = input.identity();
      if (!identity) {
        throw Error("cannot index " + trace.name() + ": it is not a file of one trace as it is")
            .hint("decompress it (zstd -d), or have it in a folder (htmtrace record -o DIR)");
      }
      const HtmType type = type_of(context, trace, manifest_of(trace)).value_or(HtmType::kCore);
      if (type == HtmType::kLlat) {
        throw Error("cannot index " + trace.name() +
                    ": it is an llat trace, whose format is not public");
      }
      interval_ = interval(identity->size_bytes);
      const std::string found =
          type == HtmType::kNest ? nest(trace, input, *identity) : core(trace, input, *identity);
      print_note(fmt::format("{}: {} bytes, {}", index_path(trace).string(),
                             std::filesystem::file_size(index_path(trace)), found));
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
    return fmt::format("{} instructions, {} places to begin at", index.instructions,
                       index.restarts.size());
  }

  std::string nest(const ChosenTrace& trace, InputFile& input, const FileIdentity& identity) {
    NestReading reading(trace, options_.layout);  // judges the layout
    if (reading.had_wrapped()) {
      throw Error(
          "cannot index " + trace.name() +
          ": the buffer of this nest trace had wrapped, and an index is of one in its order")
          .hint("decode and report read it from its oldest byte without an index");
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
    return fmt::format("layout {}, {} commands, {} places to begin at",
                       nest::layout_name(index.layout), indexer.statistics().commands,
                       index.restarts[0].size());
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

  // What the index says must be of the file as it was all the time.
  static void finish(const ChosenTrace& trace, const FileIdentity& identity,
                     const std::vector<std::byte>& bytes) {
    if (trace.open().identity() != identity) {
      throw Error("cannot index " + trace.name() + ": it has changed meanwhile")
          .hint("wait until its recording is done");
    }
    write(index_path(trace), bytes);
  }

  const IndexOptions& options_;
  uint64_t interval_ = 0;
};

}  // namespace

Action declare_index(CLI::App& app) {
  auto options = std::make_shared<IndexOptions>();
  app.add_option("PATH", options->paths, "folder of a recording, or trace file (default: .)");
  app.add_option("--node", options->filter.node, "of a folder, only the traces of this node");
  app.add_option("--chip", options->filter.chip, "of a folder, only the traces of this chip");
  app.add_option("--core", options->filter.core, "of a folder, only the traces of this core");
  declare_type(app, options->type);
  declare_layout(app, options->layout);
  app.add_option(
         "--interval", options->interval,
         "bytes between two places to begin at (default: a thousandth of the trace, at least "
         "256K)")
      ->type_name("SIZE")
      ->check([](const std::string& text) {
        return parse_size(text).value_or(0) != 0 ? "" : text + " is no size such as 4M";
      });
  app.footer(
      "Writes PATH.index beside each trace; decode and report then read only what they need for\n"
      "--ticks, --instructions, --from-mark and --last. See htmtrace-index(1).\n"
      "Exit status: 0 done, 1 failed, 2 usage, 3 the recording is incomplete.");
  return [options] { return Index(*options).run(); };
}

}  // namespace htmtrace
