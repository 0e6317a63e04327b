// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/nest_decode.h"

#include <fmt/core.h>

#include <map>

#include "cli/index_file.h"
#include "cli/messages.h"
#include "cli/nest_choice.h"
#include "cli/nest_reading.h"
#include "cli/trace_context.h"
#include "core/error.h"
#include "output/nest_report.h"
#include "output/progress.h"

namespace htmtrace {

void check_nest_selection(const Selection& s, const std::string& trace) {
  if (s.ea.empty() && s.data_ea.empty() && s.data_ra.empty() && s.data_la.empty() &&
      s.privileges == 0 && s.classes == 0 && s.numbers.first == 0 &&
      s.numbers.last == Selection::kAny && !s.from_mark && !s.to_mark &&
      s.last == Selection::kAny) {
    return;
  }
  throw Error("cannot select so in " + trace + ": it is a nest trace")
      .hint("nest traces know --ra, --la, --ticks, --command, --every and --first");
}

void declare_layout(CLI::App& app, std::optional<nest::Layout>& layout) {
  static const std::map<std::string, nest::Layout> layouts = {{"power8", nest::Layout::kPower8},
                                                              {"power9", nest::Layout::kPower9},
                                                              {"unknown", nest::Layout::kUnknown}};
  app.add_option(
         "--layout", layout,
         "nest traces: layout of the records, power8, power9 or unknown (default: judged by "
         "the trace)")
      ->transform(CLI::CheckedTransformer(layouts))
      ->type_name("LAYOUT");
}

void declare_nest(CLI::App& app, NestOptions& options) {
  declare_layout(app, options.layout);
  app.add_option("--command", options.commands, "nest traces: only commands of these names")
      ->type_name("NAME,...")
      ->delimiter(',')
      ->allow_extra_args(false);
}

NestResult decode_nest(const NestJob& job, TextOutput& output) {
  check_nest_selection(job.selection, job.trace.name());
  NestReading reading(job.trace, job.options.layout);
  if (job.wishes.format == NestPrinter::Format::kHtmdecode &&
      reading.layout() == nest::Layout::kUnknown && reading.size_bytes().value_or(1) != 0) {
    throw Error("cannot write the lines of htmdecode of " + reading.name() +
                ": the layout of its records is not known")
        .on(nest::describe(reading.evidence()))
        .hint("if it is known to you, say it with --layout");
  }
  NestPrinter printer(output, reading.layout(), job.wishes);
  NestChoice<NestPrinter> choice(
      {.selection = job.selection, .commands = job.options.commands, .map = job.map},
      reading.layout(), printer);
  const bool part = reading.narrow(job.trace, job.selection);
  Progress progress(stderr);
  bool more = true;
  while (more && !output.reader_gone() && !choice.satisfied()) {
    more = reading.advance(choice);
    if (job.show_progress) {
      progress.decoding(reading.offset(), reading.size_bytes().value_or(0), "nest trace");
    }
  }
  progress.clear();
  NestResult result{.statistics = reading.statistics()};
  nest::Statistics& statistics = result.statistics;
  statistics.translated = choice.translated();
  statistics.untranslated = choice.untranslated();
  if (output.reader_gone()) return result;
  result.cut = tell_trouble(reading.input());
  if (reading.layout() == nest::Layout::kUnknown && statistics.bytes != 0) {
    print_warning(fmt::format(
        "the layout of the records in {} is not known: they are printed as they are ({})",
        reading.name(), nest::describe(reading.evidence())));
  }
  if (job.quiet) return result;
  output.flush();
  if (part) tell_part(reading.input());
  fmt::print(stderr, "{}\n  {}\n{}", reading.name(), nest::describe(reading.evidence()),
             describe(statistics));
  return result;
}

}  // namespace htmtrace
