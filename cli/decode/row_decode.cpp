// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/decode/row_decode.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/messages.h"
#include "cli/traces/choice.h"
#include "cli/traces/context.h"
#include "cli/traces/core_reading.h"
#include "cli/traces/nest_choice.h"
#include "cli/traces/nest_reading.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/nest_trace/layout.h"
#include "output/export/avro_file.h"
#include "output/export/event_rows.h"
#include "output/export/parquet_file.h"

namespace htmtrace {
namespace {

// Returns "type=core/node=0/chip=1/core=12", or only "type=core" if the file does not state its
// target.
std::filesystem::path partition_of(const ChosenTrace& trace, HtmType type) {
  std::filesystem::path folder = fmt::format("type={}", htm_type_name(type));
  if (!trace.place) return folder;
  folder /= fmt::format("node={}", trace.place->node);
  folder /= fmt::format("chip={}", trace.place->chip);
  return folder / fmt::format("core={}", trace.place->core);
}

template <class File>
constexpr unsigned kMostThreads = 0;
// One thread decodes. It encodes about four times as many rows as a thread compresses with the
// slowest codec, so more threads would only wait.
template <>
constexpr unsigned kMostThreads<AvroFile> = 8;
// Each group of rows that a thread encodes takes memory.
template <>
constexpr unsigned kMostThreads<ParquetFile> = 6;

template <class File>
typename File::Options file_options(const DecodeOptions& options) {
  return {.codec = options.codec.value_or(default_row_codec()),
          .threads = std::min(options.traces.threads - 1, kMostThreads<File>)};
}

template <class File>
class RowDecode {
 public:
  explicit RowDecode(const DecodeOptions& options) : options_(options) {}

  int run() {
    std::optional<ScratchFile> spool;
    const std::vector<ChosenTrace> traces =
        choose_traces(options_.traces.paths, options_.traces.filter, spool);
    for (const Part& part : parts_of(traces)) write(part);
    publish_all(written_, options_.traces.existing());
    if (tell_missing(traces, options_.traces.context)) incomplete_ = true;
    if (!options_.traces.quiet) {
      print_note(fmt::format("{}; {} in {} of {}", describe(totals_), counted(rows_, "row"),
                             counted(files_, "file"), options_.traces.output));
    }
    return exit_status(options_.traces, totals_, incomplete_);
  }

 private:
  // A trace and its own folder.
  struct Part {
    const ChosenTrace* trace;
    HtmType type;
    std::filesystem::path folder;
  };

  // Throws Error if a trace cannot be written, before any trace is written.
  std::vector<Part> parts_of(const std::vector<ChosenTrace>& traces) const {
    std::vector<Part> parts;
    for (const ChosenTrace& trace : traces) {
      const HtmType type =
          type_of(options_.traces.context, trace, manifest_of(trace)).value_or(HtmType::kCore);
      if (type == HtmType::kLlat) {
        throw Error("cannot decode " + trace.name() +
                    ": it is an llat trace, whose format is not public");
      }
      if (traces.size() > 1 && !trace.place) {
        throw Error("cannot write " + trace.name() +
                    " together with other traces: its file name does not state its target")
            .hint("write each trace to a separate folder");
      }
      const Part part{.trace = &trace, .type = type, .folder = partition_of(trace, type)};
      const auto same = std::find_if(parts.begin(), parts.end(), [&](const Part& other) {
        return other.folder == part.folder;
      });
      if (same != parts.end()) {
        throw Error(fmt::format("cannot write {} beside {}: both are {}", trace.name(),
                                same->trace->name(), part.folder.string()))
            .hint("write each recording to a separate folder");
      }
      parts.push_back(part);
    }
    return parts;
  }

  void write(const Part& part) {
    const ChosenTrace& trace = *part.trace;
    const bool nest = part.type == HtmType::kNest;
    const RowPartsWishes wishes{.rows = options_.part_rows,
                                .ticks = options_.part_ticks,
                                .existing = options_.traces.existing()};
    RowParts<File>& parts = written_.emplace_back(options_.traces.output / part.folder,
                                                  nest ? nest_row_schema() : core_row_schema(),
                                                  wishes, file_options<File>(options_));
    nest ? write_nest(trace, parts) : write_core(trace, parts);
    parts.finish();
    rows_ += parts.rows();
    files_ += parts.files();
  }

  void write_core(const ChosenTrace& trace, RowParts<File>& parts) {
    CoreRows<File> writer(parts);
    if (!names_ && !options_.traces.names.empty()) names_.emplace(options_.names, options_.traces);
    const NameSelection* const selected = names_ ? names_->enter(trace) : nullptr;
    if (read_core(trace, options_.traces, selected, writer, totals_)) incomplete_ = true;
  }

  void write_nest(const ChosenTrace& trace, RowParts<File>& parts) {
    const Selection& selection = options_.traces.selection;
    check_nest_selection(selection, trace.name());
    const TranslationMap map = load_map(options_.traces.context, trace, manifest_of(trace));
    NestReading reading(trace, options_.traces.nest.layout);
    if (!reading.can_be_told()) {
      throw Error("cannot write " + reading.name() + ": its record layout is unknown")
          .on(nest::describe(reading.evidence()))
          .hint("if you know the layout, pass --layout");
    }
    NestRows<File> writer(parts, reading.layout());
    NestChoice<NestRows<File>> choice(
        {.selection = selection, .commands = options_.traces.nest.commands, .map = map},
        reading.layout(), writer);
    const bool part = reading.narrow(trace, selection);
    if (part && !options_.traces.quiet) tell_part(reading.input());
    const std::string wrap = describe_wrap(reading);
    if (!wrap.empty() && !options_.traces.quiet) print_note(wrap);
    Progress progress(stderr, options_.traces.progress());
    while (reading.advance(choice) && !choice.satisfied()) {
      reading.show(progress);
    }
    const nest::Statistics statistics = reading.statistics();
    totals_.add(statistics);
    totals_.add_selected(choice.taken());
    incomplete_ |= statistics.incomplete() || map.report().damaged();
    if (tell_trouble(reading.input())) incomplete_ = true;
  }

  const DecodeOptions& options_;
  std::list<RowParts<File>> written_;  // unpublished until all traces are written
  std::optional<TraceNames> names_;    // loaded on first use
  DecodeTotals totals_ = no_totals(options_.traces);
  uint64_t rows_ = 0;
  uint64_t files_ = 0;
  bool incomplete_ = false;
};

}  // namespace

int decode_to_rows(const DecodeOptions& options) {
  if (options.format == DecodeFormat::kParquet) return RowDecode<ParquetFile>(options).run();
  return RowDecode<AvroFile>(options).run();
}

}  // namespace htmtrace
