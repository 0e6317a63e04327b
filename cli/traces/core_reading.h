// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a core trace into a counting sink.
#pragma once

#include <fmt/core.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/messages.h"
#include "cli/traces/bytes.h"
#include "cli/traces/choice.h"
#include "cli/traces/context.h"
#include "cli/traces/index_file.h"
#include "cli/traces/nest_options.h"
#include "cli/traces/options.h"
#include "cli/traces/selection_options.h"
#include "core/core_trace/decoder.h"
#include "core/core_trace/sink.h"
#include "output/io/input_file.h"
#include "output/io/progress.h"
#include "output/print/selecting_sink.h"
#include "output/report/decode_report.h"

namespace htmtrace {

// Adds to `totals` what was decoded; `next` follows a SelectingSink. If it has
// begin_trace(owners), that is called first; walks are followed if its wants_walks() says so. What
// is missing or wrong is printed on stderr; returns whether there was a problem. Throws Error.
template <class Next>
bool read_core(const ChosenTrace& trace, const TraceOptions& options, Next& next,
               DecodeTotals& totals) {
  check_core_selection(options.nest, trace.name());
  InputFile input = trace.open();
  const TranslationMap map = load_map(options.context, trace, manifest_of(trace));
  if constexpr (HasBeginTrace<Next>) next.begin_trace(map.owners());
  SelectingSink sink(options.selection, next);
  CoreDecoder decoder(map, sink);
  if constexpr (HasWantsWalks<Next>) {
    if (next.wants_walks()) decoder.follow_walks();
  }
  TraceBytes bytes = selected_bytes(trace, input, options.selection, Selection::kAny,
                                    /*file_order=*/false, lead_of<Next>());
  if (const auto& restart = bytes.restart()) {
    sink.begin_at(restart->place);
    decoder.start_at(restart->offset, bytes.pages());
    tell_part(input);
  }
  Progress progress(stderr);
  const std::unique_ptr<std::byte[]> memory(new std::byte[InputFile::kPieceBytes]);
  const std::span<std::byte> piece(memory.get(), InputFile::kPieceBytes);
  while (!decoder.finished()) {
    const size_t got = bytes.read(piece);
    if (got == 0) break;
    decoder.feed(piece.first(got));
    progress.decoding(decoder.offset(), input.size_bytes().value_or(0),
                      fmt::format("{} losses", decoder.statistics().loss_stamps));
  }
  decoder.finish();
  sink.finish();
  warn_if_never_entered(options.selection, sink.selected(), trace.name());
  CoreStatistics statistics = decoder.statistics();
  if (bytes.restart()) statistics.bytes -= bytes.restart()->offset;
  totals.add(statistics);
  if (statistics.no_tags()) {
    tell_no_tags(input.name());
  }
  const bool cut = tell_trouble(input);
  return cut || statistics.incomplete() || map.report().damaged();
}

}  // namespace htmtrace
