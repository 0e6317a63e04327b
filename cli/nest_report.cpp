// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/nest_report.h"

#include <memory>

#include "cli/index_file.h"
#include "cli/nest_choice.h"
#include "cli/nest_reading.h"
#include "cli/trace_context.h"
#include "core/error.h"
#include "core/nest_layout.h"
#include "output/nest_hot_report.h"
#include "output/progress.h"

namespace htmtrace {
namespace {

// Counts the commands that carry an address.
struct Counter {
  void event(const nest::Event& event, std::optional<LogicalAddr> la) {
    if (event.kind != nest::Event::Kind::kCommand) return;
    const nest::Command command = nest::command_of(spots.layout(), event.record);
    const nest::CommandName& name = names.command(command.ttype, command.tsize);
    if (name.port == nest::PortRule::kAddress) spots.command(event, command, la);
  }
  nest::HotSpots& spots;
  const nest::Names& names;
};

void check_layout(const NestReading& reading, const nest::HotSpots* spots) {
  if (reading.layout() == nest::Layout::kUnknown) {
    throw Error("cannot report on " + reading.name() + ": the layout of its records is not known")
        .on(nest::describe(reading.evidence()))
        .hint("if it is known to you, say it with --layout");
  }
  if (spots != nullptr && spots->layout() != reading.layout()) {
    throw Error("cannot report on " + reading.name() + ": its layout is not that of the others");
  }
}

}  // namespace

NestReportResult report_nest(const NestReportJob& job) {
  NestReportResult result;
  std::unique_ptr<nest::HotSpots> spots;
  std::string evidence;
  for (const ChosenTrace& trace : job.traces) {
    check_nest_selection(job.selection, trace.name());
    const TranslationMap map = load_map(job.context, trace, manifest_of(trace));
    NestReading reading(trace, job.options.layout);
    check_layout(reading, spots.get());
    if (!spots) spots = std::make_unique<nest::HotSpots>(reading.layout(), job.wishes);
    spots->begin_trace(trace.short_name());
    evidence = nest::describe(reading.evidence());
    Counter counter{.spots = *spots, .names = nest::names_of(reading.layout())};
    NestChoice<Counter> choice(
        {.selection = job.selection, .commands = job.options.commands, .map = map},
        reading.layout(), counter);
    if (reading.narrow(trace, job.selection)) tell_part(reading.input());
    Progress progress(stderr);
    while (reading.advance(choice) && !choice.satisfied()) {
      progress.decoding(reading.offset(), reading.size_bytes().value_or(0), "nest trace");
    }
    const nest::Statistics statistics = reading.statistics();
    result.totals.add(statistics);
    result.incomplete |= statistics.incomplete() || map.report().damaged();
    if (tell_trouble(reading.input())) result.incomplete = true;
  }
  const NestHotReport report{
      .spots = *spots, .totals = result.totals, .evidence = evidence, .top = job.top};
  switch (job.format) {
    case ReportFormat::kText:
      result.report = report.to_text();
      break;
    case ReportFormat::kJson:
      result.report = report.to_json();
      break;
    case ReportFormat::kCsv:
      result.report = report.to_csv();
      break;
  }
  return result;
}

}  // namespace htmtrace
