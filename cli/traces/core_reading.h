// SPDX-License-Identifier: GPL-2.0-or-later
// Decodes the bytes of a core trace into a sink.
#pragma once

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "cli/traces/bytes.h"
#include "cli/traces/choice.h"
#include "cli/traces/context.h"
#include "cli/traces/index_file.h"
#include "cli/traces/nest_options.h"
#include "cli/traces/options.h"
#include "cli/traces/selection_options.h"
#include "core/base/counted.h"
#include "core/core_trace/decoder.h"
#include "core/core_trace/sink.h"
#include "output/io/input_file.h"
#include "output/io/progress.h"
#include "output/print/selecting_sink.h"
#include "output/report/decode_report.h"

namespace htmtrace {

struct CoreReading {
  TraceBytes& bytes;
  const TranslationMap& map;
  uint64_t limit = Selection::kAny;  // maximum number of instructions
  bool walks = false;
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
  if (reading.walks) decoder.follow_walks();
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
  TraceBytes bytes = selected_bytes(trace, input, options.selection, Selection::kAny,
                                    /*file_order=*/false, lead_of<Next>());
  SelectingSink sink(options.selection, next, names);
  if (const auto& restart = bytes.restart()) {
    sink.begin_at(restart->place);
    if (!options.quiet) tell_part(input);
  }
  CoreReading reading{.bytes = bytes, .map = map, .progress = options.progress()};
  if constexpr (HasWantsWalks<Next>) reading.walks = next.wants_walks();
  const CoreStatistics statistics = decode_bytes(reading, sink, [] { return true; });
  sink.finish();
  warn_if_never_entered(options.selection, sink.selected(), trace.name());
  totals.add(statistics);
  totals.add_selected(sink.selected());
  if (statistics.no_tags()) {
    tell_no_tags(input.name());
  }
  const bool cut = tell_trouble(input);
  return cut || statistics.incomplete() || map.report().damaged();
}

}  // namespace htmtrace
