// SPDX-License-Identifier: GPL-2.0-or-later
// Decodes the bytes of a core trace into a sink.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "cli/messages.h"
#include "cli/traces/bytes.h"
#include "cli/traces/choice.h"
#include "cli/traces/context.h"
#include "cli/traces/index_file.h"
#include "cli/traces/nest_options.h"
#include "cli/traces/options.h"
#include "cli/traces/processes.h"
#include "cli/traces/selection_options.h"
#include "core/base/counted.h"
#include "core/core_trace/decoder.h"
#include "core/core_trace/sink.h"
#include "output/io/input_file.h"
#include "output/io/progress.h"
#include "output/io/text_output.h"
#include "output/print/open_parts.h"
#include "output/print/parallel_decode.h"
#include "output/print/part_sink.h"
#include "output/print/selecting_sink.h"
#include "output/report/decode_report.h"

namespace htmtrace {

struct CoreReading {
  TraceBytes& bytes;
  const TranslationMap& map;
  uint64_t limit = Selection::kAny;  // maximum number of instructions
  enum class Walks : uint8_t { kNone, kRaw, kComplete };
  Walks walks = Walks::kNone;
  Progress::Style progress = Progress::Style::kTerminal;
};

// Passes the events of the trace to `sink`, as long as wanted() returns true. Returns the
// statistics of the decoded part. Throws Error.
template <CoreSink Sink, class Wanted>
CoreStatistics decode_bytes(const CoreReading& reading, Sink& sink, const Wanted& wanted) {
  TraceBytes& bytes = reading.bytes;
  CoreDecoder decoder(reading.map, sink);
  decoder.set_instruction_limit(reading.limit);
  const std::optional<CoreRestart>& restart = bytes.restart();
  if (restart) {
    decoder.start_at(restart->offset, bytes.pages());
    decoder.set_instruction_limit(reading.limit - restart->place.instructions);
  }
  if (reading.walks == CoreReading::Walks::kComplete) decoder.follow_walks();
  if (reading.walks == CoreReading::Walks::kRaw) decoder.follow_raw_walks();
  Progress progress(stderr, reading.progress);
  const std::unique_ptr<std::byte[]> memory(new std::byte[InputFile::kPieceBytes]);
  const std::span<std::byte> piece(memory.get(), InputFile::kPieceBytes);
  while (!decoder.finished() && wanted()) {
    const size_t got = bytes.read(piece);
    if (got == 0) break;
    decoder.feed(piece.first(got));
    progress.decoding(decoder.offset(), bytes.file().size_bytes().value_or(0),
                      counted(decoder.statistics().loss_stamps, "loss"));
  }
  decoder.finish();
  CoreStatistics statistics = decoder.statistics();
  if (restart) statistics.bytes -= restart->offset;
  return statistics;
}

// How several threads decode a trace (output/print/parallel_decode.h).
struct PartReading {
  TraceBytes& bytes;
  const TranslationMap& map;
  unsigned threads = 1;
  ParallelLimits limits = {};
  Progress::Style progress = Progress::Style::kTerminal;
};

// The number of threads that have work, if `threads` threads are available.
inline unsigned useful_threads(const TraceBytes& bytes, unsigned threads, size_t part_bytes) {
  const uint64_t parts = bytes.file().size_bytes().value_or(Selection::kAny) / part_bytes + 1;
  return static_cast<unsigned>(std::min<uint64_t>({threads, parts, kMostDecodeThreads}));
}

// Prints the trace with several threads. `write` receives the text. If write() returns false,
// because the reader wants no more text, decode_in_parts() returns nothing. Otherwise it calls
// at_end(printer) with the printer of the last part. Throws Error.
template <class MakePrinter, class AtEnd>
std::optional<CoreStatistics> decode_in_parts(const PartReading& reading,
                                              const MakePrinter& make_printer,
                                              const std::function<bool(std::string_view)>& write,
                                              const AtEnd& at_end) {
  TraceBytes& bytes = reading.bytes;
  const uint64_t size_bytes = bytes.file().size_bytes().value_or(0);
  const unsigned threads = useful_threads(bytes, reading.threads, reading.limits.part_bytes);
  Progress progress(stderr, reading.progress);
  DecodeStart start;
  if (bytes.restart()) start = {.offset = bytes.restart()->offset, .pages = bytes.pages()};
  ParallelDecode decode(reading.map, make_printer, threads, reading.limits, start);
  if (decode.threads() < threads) {
    warn_of_fewer_threads(fmt::format("decoding with {}", decode.threads()));
  }
  const std::optional<CoreStatistics> statistics = decode.run({
      .read = [&](std::span<std::byte> piece) { return bytes.read(piece); },
      .write = write,
      .progress =
          [&](uint64_t offset, const CoreStatistics& so_far) {
            progress.decoding(offset, size_bytes, counted(so_far.loss_stamps, "loss"));
          },
  });
  progress.clear();
  if (decode.left_rest()) bytes.leave_rest();
  if (statistics) at_end(decode.printer());
  return statistics;
}

// Small enough that the rows of a part stay in a processor's cache (core/analysis/hot_part.h).
inline constexpr size_t kCountedPartBytes = 256 << 10;

// The position in the trace at which the bytes begin.
inline TracePlace place_of_begin(const TraceBytes& bytes) {
  return bytes.restart() ? bytes.restart()->place : TracePlace();
}

// Whether several threads can select from parts of the trace. A selection by position may end
// early, so it reads a pipe in order: reading ahead could wait for bytes that never arrive.
inline bool selects_in_parts(const Selection& selection, const TraceBytes& bytes) {
  return selection.has_parts() && (bytes.file().regular() || !selection.has_places());
}

// Passes the selected events of the trace to `next` in parts. The parts do not depend on the
// number of threads, so the counts do not depend on it either. Sets `selected` to the number of
// selected instructions, or to 0 without a selection. Returns nothing if wanted() returned false.
// Requires selects_in_parts(). Throws Error.
template <HasParts Next, class Wanted>
std::optional<CoreStatistics> count_in_parts(PartReading reading, const Selection& selection,
                                             const NameSelection* names, Next& next,
                                             uint64_t& selected, const Wanted& wanted) {
  PartPool<Next> pool(next);
  reading.limits = {.part_bytes = kCountedPartBytes, .feed_bytes = kCountedPartBytes};
  const auto decode = [&](const auto& make_sink) {
    return decode_in_parts(
        reading, make_sink, [&](std::string_view) { return wanted(); }, [](const auto&) {});
  };
  OpenParts parts(selection, place_of_begin(reading.bytes));
  const std::optional<CoreStatistics> statistics =
      selection.everything() && !HasPlacedParts<Next>
          ? decode([&](TextOutput&) { return PartSink<Next>(pool); })
          : decode([&](TextOutput&) { return SelectedPartSink<Next>(pool, parts, names); });
  selected = selection.everything() ? 0 : pool.selected();
  return statistics;
}

template <CoreSink Next>
bool finds_processes(const TraceOptions& options, const Next& next) {
  return options.selection.by_process || wants_processes(next);
}

// Passes the selected events of the trace to `next`. Sets `selected` to the number of selected
// instructions. Throws Error.
template <CoreSink Next>
CoreStatistics pass_selected(const ChosenTrace& trace, TraceBytes& bytes, const TranslationMap& map,
                             const TraceOptions& options, const NameSelection* names, Next& next,
                             uint64_t& selected) {
  if (bytes.restart() && !options.quiet) tell_part(bytes.file());
  if constexpr (HasParts<Next>) {
    if (selects_in_parts(options.selection, bytes) && !wants_processes(next)) {
      return *count_in_parts(
          {.bytes = bytes, .map = map, .threads = options.threads, .progress = options.progress()},
          options.selection, names, next, selected, [] { return true; });
    }
  }
  SelectingSink sink(options.selection, next, names);
  std::optional<PageOwners> owners;
  if (finds_processes(options, next)) {
    owners = load_owners(trace, options);
    sink.find_processes(*owners, ProcessSelection(options.processes));
  }
  sink.begin_at(place_of_begin(bytes));
  const CoreStatistics statistics = decode_bytes(
      {.bytes = bytes,
       .map = map,
       .walks = wants_walks(next) ? CoreReading::Walks::kRaw : CoreReading::Walks::kNone,
       .progress = options.progress()},
      sink, [] { return true; });
  sink.finish();
  warn_of_contradictions(sink.contradictions(), trace.name());
  selected = sink.selected();
  return statistics;
}

// Passes the selected events of the trace to `next`, which follows a SelectingSink. Adds the
// statistics to `totals`. `names` is resolve(options.names), or null if no option selects by name.
// Prints warnings on stderr, and returns true if the trace is incomplete or damaged. Throws Error.
template <CoreSink Next>
bool read_core(const ChosenTrace& trace, const TraceOptions& options, const NameSelection* names,
               Next& next, DecodeTotals& totals) {
  check_core_selection(options.nest, trace.name());
  InputFile input = trace.open();
  const TranslationMap map = load_map(options.context, trace, manifest_of(trace));
  if constexpr (HasBeginTrace<Next>) next.begin_trace(map.owners());
  // The proof of a process may precede the selection.
  const Lead lead = finds_processes(options, next) ? Lead::kAll : lead_of<Next>();
  TraceBytes bytes = selected_bytes(trace, input, options.selection, Selection::kAny,
                                    /*file_order=*/false, lead);
  uint64_t selected = 0;
  const CoreStatistics statistics =
      pass_selected(trace, bytes, map, options, names, next, selected);
  warn_if_never_entered(options.selection, selected, trace.name());
  totals.add(statistics);
  totals.add_selected(selected);
  if (statistics.no_tags()) {
    tell_no_tags(input.name());
  }
  const bool cut = bytes.ended() && tell_trouble(input);
  return cut || statistics.incomplete() || map.report().damaged();
}

}  // namespace htmtrace
