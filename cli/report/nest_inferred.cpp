// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/report/nest_inferred.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "cli/messages.h"
#include "cli/traces/context.h"
#include "cli/traces/nest_choice.h"
#include "cli/traces/nest_reading.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/hot_table.h"
#include "core/base/size_text.h"
#include "core/nest_trace/field_search.h"
#include "core/nest_trace/layout.h"
#include "output/io/percent.h"
#include "output/io/progress.h"

namespace htmtrace {
namespace {

using nest::FieldEvidence;
using nest::InferredField;

constexpr uint64_t kSamples = 1 << 16;  // for the search, which reads each sample once for each bit
constexpr uint64_t kNoLogicalAddress = ~uint64_t{0};

struct InferredPage {
  uint64_t count = 0;
  uint64_t lowest_la = kNoLogicalAddress;
};

// Passes on the commands. In an unknown layout, only the type bits identify them.
template <class Take>
struct UnknownCommands {
  void event(const nest::Event& event, std::optional<LogicalAddr>) {
    if (event.kind == nest::Event::Kind::kCommand) take(event);
  }
  const Take& take;
};

template <class Take>
void read_commands(NestReading& reading, const Selection& selection, Progress::Style style,
                   const Take& take) {
  static const TranslationMap no_map;
  static const std::vector<std::string> all_commands;
  UnknownCommands<Take> commands{.take = take};
  NestChoice<UnknownCommands<Take>> choice(
      {.selection = selection, .commands = all_commands, .map = no_map}, reading.layout(),
      commands);
  Progress progress(stderr, style);
  while (reading.advance(choice) && !choice.satisfied()) {
    reading.show(progress);
  }
  progress.clear();
}

// Searches the address field in samples at equal distances over the whole trace.
FieldEvidence search(const ChosenTrace& trace, const TraceOptions& options) {
  NestReading reading(trace, nest::Layout::kUnknown);
  const auto size = reading.size_bytes();
  if (!size || trace.is_standard_input()) {
    throw Error("cannot infer addresses in " + trace.name() + ": not an uncompressed regular file")
        .hint("store the trace in an uncompressed file");
  }
  const std::vector<TranslationMap::Range> memory = load_memory(options.context, trace);
  if (memory.empty()) {
    throw Error("cannot infer addresses in " + trace.name() + ": no memory map found")
        .hint("pass a memory map: --translation FILE");
  }
  if (reading.evidence().layout != nest::Layout::kUnknown) {
    print_warning(
        fmt::format("{} seems to have a known layout; omit --infer-address for a full report: {}",
                    trace.name(), nest::describe(reading.evidence())));
  }
  const uint64_t every = std::max<uint64_t>(1, *size / nest::kRecordBytes / kSamples);
  nest::FieldSearch search(memory);
  uint64_t number = 0;
  read_commands(reading, Selection(), options.progress(), [&](const nest::Event& event) {
    if (number++ % every != 0) return;
    const uint64_t third = event.offset * FieldEvidence::kThirds / std::max<uint64_t>(*size, 1);
    search.add(event.record, event.engine,
               static_cast<unsigned>(std::min<uint64_t>(third, FieldEvidence::kThirds - 1)));
  });
  return search.judge();
}

class Inferred {
 public:
  Inferred(const ReportOptions& options, const PageNames& names)
      : options_(options), names_(names) {
    for (const uint64_t unit : options.wishes.units) {
      units_.push_back(std::max(unit, uint64_t{1} << InferredField::kPageShift));
    }
    units_.erase(std::unique(units_.begin(), units_.end()), units_.end());
    for (size_t i = 0; i < units_.size(); i++) tables_.emplace_back(options.wishes.entries);
  }

  // Counts the pages of the trace if the search accepts a field. Returns the evidence.
  std::string add(const ChosenTrace& trace) {
    const FieldEvidence evidence = search(trace, options_.traces);
    const TranslationMap map = load_map(options_.traces.context, trace, manifest_of(trace));
    NestReading reading(trace, nest::Layout::kUnknown);
    TranslationMap::Cursor cursor(map);
    read_commands(reading, options_.traces.selection, options_.traces.progress(),
                  [&](const nest::Event& event) {
                    if (!evidence.believed()) return;
                    commands_++;
                    const uint64_t page = evidence.field.page_address(event.record);
                    count(page, cursor.translate(RealAddr{page}));
                  });
    result.totals.add(reading.statistics());
    result.incomplete |= reading.statistics().incomplete() || map.report().damaged();
    if (tell_trouble(reading.input())) result.incomplete = true;
    any_ |= evidence.believed();
    return fmt::format("{}: {}", trace.name(), nest::describe(evidence));
  }

  std::string tables() const {
    if (!any_) return "no address field was accepted, so the report has no addresses\n";
    std::string text = counted(commands_, "command") + '\n';
    if (without_ != 0) {
      text += fmt::format("{} ({:.2f}%) of them without a known logical address are in no table\n",
                          without_, percent(without_, commands_));
    }
    for (size_t i = 0; i < units_.size(); i++) text += table(i);
    return text;
  }

  NestReportResult result;

 private:
  bool by_logical() const { return options_.wishes.key == DataKey::kLogical; }

  std::string table(size_t number) const {
    std::string text =
        fmt::format("\nhot {} addresses on the bus, INFERRED, units of {}\n{:>14} {:>7}  {:<16}\n",
                    by_logical() ? "logical" : "real", exact_size(units_[number]), "commands",
                    "share", "address");
    for (const auto& [key, page] :
         tables_[number].top(options_.top.value_or(ReportOptions::kTop))) {
      const std::string name =
          page.lowest_la == kNoLogicalAddress ? "" : names_.name({page.lowest_la});
      text += fmt::format("{:>14} {:>6.2f}%  {:016x}{}{}\n", page.count,
                          percent(page.count, commands_), key, name.empty() ? "" : "  in ", name);
    }
    if (const uint64_t error = tables_[number].error(); error != 0) {
      text += fmt::format("counts may be too small by up to {}: raise --entries\n", error);
    }
    return text;
  }

  void count(uint64_t page, std::optional<LogicalAddr> la) {
    if (by_logical() && !la) {
      without_++;
      return;
    }
    const uint64_t address = by_logical() ? la->value : page;
    for (size_t i = 0; i < units_.size(); i++) {
      InferredPage& hot = tables_[i].at(address & ~(units_[i] - 1));
      hot.count++;
      if (la) hot.lowest_la = std::min(hot.lowest_la, la->value);
    }
  }

  const ReportOptions& options_;
  const PageNames& names_;
  std::vector<uint64_t> units_;
  std::vector<HotTable<InferredPage>> tables_;
  uint64_t commands_ = 0;
  uint64_t without_ = 0;
  bool any_ = false;
};

}  // namespace

NestReportResult report_inferred(const std::vector<ChosenTrace>& traces,
                                 const ReportOptions& options, const PageNames& names) {
  for (const ChosenTrace& trace : traces) {
    check_nest_selection(options.traces.selection, trace.name());
  }
  Inferred inferred(options, names);
  std::string text;
  for (const ChosenTrace& trace : traces) text += inferred.add(trace);
  NestReportResult result = inferred.result;
  result.report = text + inferred.tables();
  return result;
}

}  // namespace htmtrace
