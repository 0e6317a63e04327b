// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/decode/nest_decode.h"

#include <fmt/core.h>

#include <optional>
#include <utility>

#include "cli/decode/fields.h"
#include "cli/messages.h"
#include "cli/traces/context.h"
#include "cli/traces/index_file.h"
#include "cli/traces/nest_choice.h"
#include "cli/traces/nest_reading.h"
#include "core/base/error.h"
#include "core/nest_trace/counter.h"
#include "output/print/nest_fields_printer.h"
#include "output/print/nest_lines.h"
#include "output/report/nest_report.h"

namespace htmtrace {
namespace {

// Counts the selected events for a summary.
struct SelectedEvents {
  void event(const nest::Event& event, std::optional<LogicalAddr>) {
    (event.kind == nest::Event::Kind::kCommand ? commands : others)++;
  }
  uint64_t commands = 0;
  uint64_t others = 0;  // such as responses whose command is not in the trace
};

bool everything_selected(const NestJob& job) {
  return job.selection.everything() && job.options.commands.empty();
}

bool limited(const NestJob& job) {
  return job.limit != Selection::kAny || job.selection.first != Selection::kAny;
}

// Passes selected commands to `next`.
template <class Next>
void pass_selected(const NestJob& job, NestReading& reading, TextOutput& output, Next& next,
                   NestResult& result) {
  NestChoice<Next> choice({.selection = job.selection,
                           .commands = job.options.commands,
                           .map = job.map,
                           .limit = job.limit},
                          reading.layout(), next);
  Progress progress(stderr, job.progress);
  bool more = true;
  while (more && !output.reader_gone() && !choice.satisfied()) {
    more = reading.advance(choice);
    reading.show(progress);
  }
  progress.clear();
  result.statistics = reading.statistics();
  result.statistics.translated = choice.translated();
  result.statistics.untranslated = choice.untranslated();
  result.selected = choice.taken();
}

// Passes selected commands to the printer that `make_printer` makes from the output.
template <class MakePrinter>
void print(const NestJob& job, NestReading& reading, TextOutput& output,
           const MakePrinter& make_printer, NestResult& result) {
  if (job.threads == 1) {
    auto printer = make_printer(output);
    return pass_selected(job, reading, output, printer, result);
  }
  NestLineQueue queue(output, make_printer, job.threads);
  pass_selected(job, reading, output, queue, result);
  queue.finish();
}

nest::Statistics count_all(const NestJob& job, NestReading& reading) {
  std::vector<nest::Counter> counters;
  for (unsigned i = 0; i < reading.engines(); i++) {
    counters.emplace_back(reading.layout(), static_cast<uint8_t>(i), job.map);
  }
  Progress progress(stderr, job.progress);
  while (reading.advance_records(
      [&](size_t engine, auto records, uint64_t) { counters[engine].take(records); })) {
    reading.show(progress);
  }
  progress.clear();
  nest::Statistics sum = reading.statistics();
  for (const nest::Counter& counter : counters) sum.add(counter.statistics());
  return sum;
}

// Warns about a trace without records, in the words of core traces.
void tell_nothing(const NestReading& reading) {
  print_warning(reading.name() +
                (reading.size_bytes() == 0 ? " is empty" : " contains only zeros"));
}

}  // namespace

void check_nest_output(const DecodeOptions& options, const std::string& trace) {
  if (options.modes || options.walks || options.disassemble || options.symbols) {
    throw Error("cannot print modes, walks, disassembly or symbols of " + trace +
                ": it is a nest trace");
  }
  if (for_simulators(options.format)) throw Error("cannot write " + trace + ": it is a nest trace");
  check_nest_fields(options.fields, trace);
}

NestPrinter::Format nest_format(DecodeFormat format) {
  switch (format) {
    case DecodeFormat::kJson:
      return NestPrinter::Format::kJson;
    case DecodeFormat::kCsv:
      return NestPrinter::Format::kCsv;
    case DecodeFormat::kHtmdecode:
      return NestPrinter::Format::kHtmdecode;
    case DecodeFormat::kText:
    case DecodeFormat::kQtrace:
    case DecodeFormat::kBlockVectors:
    case DecodeFormat::kAvro:
    case DecodeFormat::kParquet:
    case DecodeFormat::kPerf:
      break;
  }
  return NestPrinter::Format::kText;
}

NestResult decode_nest(const NestJob& job, TextOutput& output) {
  check_nest_selection(job.selection, job.trace.name());
  NestReading reading(job.trace, job.options.layout);
  const bool htmdecode = job.wishes.format == NestPrinter::Format::kHtmdecode;
  if ((htmdecode || !job.fields.empty()) && !reading.can_be_told()) {
    throw Error(fmt::format("cannot write {} of {}: its record layout is unknown",
                            htmdecode ? "htmdecode lines" : "fields", reading.name()))
        .on(nest::describe(reading.evidence()))
        .hint("if you know the layout, pass --layout");
  }
  if (job.file_order) reading.keep_file_order();
  if (limited(job)) reading.read_little();
  // A limit counts from the start of the trace.
  const bool part = job.limit == Selection::kAny && reading.narrow(job.trace, job.selection);
  const std::string wrap = describe_wrap(reading);
  NestResult result;
  SelectedEvents selected;
  if (job.summary) {
    // count_all() counts in file order, so the file order must be the trace order.
    const bool by_bytes = everything_selected(job) && !limited(job) && wrap.empty();
    if (by_bytes) {
      result.statistics = count_all(job, reading);
    } else {
      pass_selected(job, reading, output, selected, result);
    }
  } else if (!job.fields.empty()) {
    const NestFieldsPrinter::Wishes wishes{
        .format = job.fields_format, .fields = job.fields, .target = job.wishes.target};
    print(
        job, reading, output,
        [&](TextOutput& text) { return NestFieldsPrinter(text, reading.layout(), wishes); },
        result);
  } else {
    print(
        job, reading, output,
        [&](TextOutput& text) { return NestPrinter(text, reading.layout(), job.wishes); }, result);
  }
  if (output.reader_gone()) return result;
  result.cut = tell_trouble(reading.input());
  if (reading.evidence().records == 0) {
    tell_nothing(reading);
  } else if (reading.layout() == nest::Layout::kUnknown) {
    print_warning(fmt::format("the record layout of {} is unknown{} ({})", reading.name(),
                              job.summary ? "" : "; printing raw records",
                              nest::describe(reading.evidence())));
  }
  if (!job.quiet && (part || !wrap.empty())) {
    output.flush();
    if (part) tell_part(reading.input());
    if (!wrap.empty())
      print_note(wrap + "; offsets are of the file (--file-order decodes from the first byte)");
  }
  std::string text = fmt::format("{}\n  {}\n{}", reading.name(), reading.describe_layout(),
                                 describe(result.statistics));
  if (job.summary && !everything_selected(job)) {
    text += fmt::format("  {:<28} {:>16}\n", "commands selected", selected.commands);
    text += fmt::format("  {:<28} {:>16}\n", "other events selected", selected.others);
  }
  result.text = std::move(text);
  return result;
}

}  // namespace htmtrace
