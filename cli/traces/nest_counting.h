// SPDX-License-Identifier: GPL-2.0-or-later
// Reads nest traces into a counter of commands.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/messages.h"
#include "cli/traces/choice.h"
#include "cli/traces/context.h"
#include "cli/traces/index_file.h"
#include "cli/traces/nest_choice.h"
#include "cli/traces/nest_reading.h"
#include "cli/traces/options.h"
#include "core/nest_trace/layout.h"
#include "core/nest_trace/sink.h"
#include "output/io/progress.h"
#include "output/report/decode_report.h"

namespace htmtrace {

// Throws Error if the layout is unknown, or differs from `before`, the layout of the earlier
// traces.
void check_layout(const NestReading& reading, std::optional<nest::Layout> before);

struct NestCount {
  DecodeTotals totals;
  std::string evidence;  // for the layout
  std::optional<nest::Layout> layout;
  bool incomplete = false;
};

// Reads a trace without records. Its layout is unknown and not needed.
inline void count_idle(NestReading& reading, NestCount& count) {
  struct Nothing {
    void event(const nest::Event&) {}
  } nothing;
  while (reading.advance(nothing)) {
  }
  count.totals.add(reading.statistics());
  if (count.evidence.empty()) count.evidence = reading.describe_layout();
  if (reading.statistics().incomplete() || tell_trouble(reading.input())) count.incomplete = true;
}

// Passes the selected commands of the traces to `counter`, which also has begin(trace, layout, map)
// for the start of each trace. Throws Error, also if the layouts are unknown or differ.
template <nest::CommandSink Counter>
NestCount count_nest(const std::vector<ChosenTrace>& traces, const TraceOptions& options,
                     Counter& counter) {
  NestCount count;
  count.totals = no_totals(options);
  std::vector<const ChosenTrace*> idle;
  for (const ChosenTrace& trace : traces) {
    check_nest_selection(options.selection, trace.name());
    NestReading reading(trace, options.nest.layout);
    if (reading.evidence().records == 0) {
      count_idle(reading, count);
      idle.push_back(&trace);
      continue;
    }
    const TranslationMap map = load_map(options.context, trace, manifest_of(trace));
    check_layout(reading, count.layout);
    count.layout = reading.layout();
    count.evidence = reading.describe_layout();
    counter.begin(trace, reading.layout(), map);
    struct Commands {
      void event(const nest::Event& event, std::optional<LogicalAddr> la) {
        if (event.kind != nest::Event::Kind::kCommand) return;
        const nest::Command command = nest::command_of(layout, event.record);
        if constexpr (nest::HasSeen<Counter>) counter.seen(command);
        const nest::CommandName& name = names.command(command.ttype, command.tsize);
        if (name.port == nest::PortRule::kAddress) counter.command(event, command, la);
      }
      Counter& counter;
      nest::Layout layout;
      const nest::Names& names;
    } commands{.counter = counter, .layout = *count.layout, .names = nest::names_of(*count.layout)};
    NestChoice<Commands> choice(
        {.selection = options.selection, .commands = options.nest.commands, .map = map},
        reading.layout(), commands);
    if (options.selection.first != Selection::kAny) reading.read_little();
    const bool part = reading.narrow(trace, options.selection);
    const std::string wrap = describe_wrap(reading);
    if (part && !options.quiet) tell_part(reading.input());
    if (!wrap.empty() && !options.quiet) print_note(wrap);
    Progress progress(stderr, options.progress());
    while (reading.advance(choice) && !choice.satisfied()) {
      reading.show(progress);
    }
    const nest::Statistics statistics = reading.statistics();
    count.totals.add(statistics);
    count.totals.add_selected(choice.taken());
    count.incomplete |= statistics.incomplete() || map.report().damaged();
    if (tell_trouble(reading.input())) count.incomplete = true;
  }
  // The layout does not matter for traces without records.
  for (const ChosenTrace* trace : idle) {
    const TranslationMap map = load_map(options.context, *trace, manifest_of(*trace));
    counter.begin(*trace, count.layout.value_or(nest::Layout::kPower9), map);
  }
  return count;
}

}  // namespace htmtrace
