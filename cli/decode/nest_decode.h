// SPDX-License-Identifier: GPL-2.0-or-later
// htmtrace decode for nest traces.
#pragma once

#include <string>
#include <vector>

#include "cli/decode/options.h"
#include "cli/traces/choice.h"
#include "cli/traces/nest_options.h"
#include "core/memory_map/translation.h"
#include "core/nest_trace/statistics.h"
#include "core/selection/selection.h"
#include "output/io/progress.h"
#include "output/io/text_output.h"
#include "output/print/fields_line.h"
#include "output/print/nest_printer.h"

namespace htmtrace {

// Throws Error if an option for the output does not apply to nest traces. `trace` is the name of
// the trace.
void check_nest_output(const DecodeOptions& options, const std::string& trace);

NestPrinter::Format nest_format(DecodeFormat format);

struct NestJob {
  const ChosenTrace& trace;
  const NestOptions& options;
  const Selection& selection;
  const TranslationMap& map;
  NestPrinter::Wishes wishes;
  const std::vector<std::string>& fields;  // empty: the fields of the format
  FieldsFormat fields_format = FieldsFormat::kText;
  uint64_t limit = Selection::kAny;  // stop after this number of commands
  bool summary = false;              // only count
  bool file_order = false;
  Progress::Style progress = Progress::Style::kNone;
  bool quiet = false;
  unsigned threads = 1;  // number of threads, including the thread that decodes
};

struct NestResult {
  nest::Statistics statistics;
  uint64_t selected = 0;  // events that were printed or, in a summary of a selection, counted
  bool cut = false;       // the file could not be read to its end
  std::string text;       // the statistics, for people; empty if the reader of the output has gone
};

// Prints the events, but not the statistics. Throws Error, also if the selection does not apply to
// nest traces.
NestResult decode_nest(const NestJob& job, TextOutput& output);

}  // namespace htmtrace
