// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/golden/bus_decoding.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "cli/traces/nest_choice.h"
#include "core/analysis/nest_hot_spots.h"
#include "core/nest_trace/counter.h"
#include "output/io/text_output.h"
#include "output/print/nest_printer.h"
#include "output/report/nest_hot_report.h"
#include "output/report/nest_report.h"

namespace htmtrace::golden {
namespace {

// The tool's printer, with the counters of a report.
class BusSink {
 public:
  BusSink(nest::Layout layout, TextOutput& output, nest::HotSpots& spots)
      : layout_(layout),
        printer_(output, layout, {.stamps = true, .target = "n0.p0"}),
        spots_(spots) {}

  void event(const nest::Event& event, std::optional<LogicalAddr> la) {
    printer_.event(event, la);
    if (event.kind != nest::Event::Kind::kCommand) return;
    const nest::Command command = nest::command_of(layout_, event.record);
    spots_.seen(command);
    const nest::CommandName& name = nest::names_of(layout_).command(command.ttype, command.tsize);
    if (name.port == nest::PortRule::kAddress) spots_.command(event, command, la);
  }

 private:
  nest::Layout layout_;
  NestPrinter printer_;
  nest::HotSpots& spots_;
};

}  // namespace

std::string decode_bus(bool power8, std::span<const std::byte> trace, const TranslationMap& map,
                       size_t piece) {
  const nest::Layout layout = power8 ? nest::Layout::kPower8 : nest::Layout::kPower9;
  TextOutput output = TextOutput::memory();
  nest::HotSpots spots(layout, {.logical = false, .units = {128}});
  spots.begin_trace("n0.p0", map.owners());
  BusSink sink(layout, output, spots);
  const Selection everything;
  const std::vector<std::string> all_commands;
  NestChoice<BusSink> choice({.selection = everything, .commands = all_commands, .map = map},
                             layout, sink);
  nest::Decoder decoder(layout, 0);
  nest::Counter counter(layout, 0, map);
  const auto pass_on = [&] {
    for (const nest::Event& event : decoder.ready()) choice.event(event);
    decoder.drop(decoder.ready().size());
  };
  for (size_t at = 0; at < trace.size(); at += piece) {
    const auto records = trace.subspan(at, std::min(piece, trace.size() - at));
    decoder.take(records, at);
    counter.take(records);
    pass_on();
  }
  decoder.finish();
  pass_on();
  spots.finish();
  nest::Statistics statistics = decoder.statistics();
  statistics.translated = choice.translated();
  statistics.untranslated = choice.untranslated();
  if (statistics.accounted_bytes() != trace.size()) {
    throw std::runtime_error("not every byte is in the statistics");
  }
  if (counter.statistics() != statistics)
    throw std::runtime_error("the counter counts differently");
  DecodeTotals totals;
  totals.add(statistics);
  const SymbolTable no_symbols;
  const PageNames names(no_symbols);
  const NestHotReport report{
      .spots = spots, .totals = totals, .evidence = "(layout)", .names = names};
  return std::string(output.text()) + "\n" + describe(statistics) + "\n" + report.to_text();
}

}  // namespace htmtrace::golden
