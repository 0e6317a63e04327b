// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/decode/perf_decode.h"

#include <fmt/core.h>

#include <optional>
#include <string>
#include <vector>

#include "cli/messages.h"
#include "cli/traces/choice.h"
#include "cli/traces/context.h"
#include "cli/traces/core_reading.h"
#include "cli/traces/symbols.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "output/export/perf_maps.h"
#include "output/export/perf_samples.h"
#include "output/io/text_output.h"

namespace htmtrace {
namespace {

void check_trace(const DecodeOptions& options, const std::vector<ChosenTrace>& traces) {
  if (traces.size() > 1) {
    throw Error("cannot write several traces to one perf.data file")
        .hint("select one with --node, --chip and --core");
  }
  const ChosenTrace& trace = traces.front();
  const std::optional<HtmType> type = type_of(options.traces.context, trace, manifest_of(trace));
  if (!type || *type == HtmType::kCore) return;
  throw Error(fmt::format("cannot write {} as perf.data: it is not a core trace", trace.name()))
      .hint("to decode it as a core trace anyway, pass --type core");
}

}  // namespace

int decode_to_perf(const DecodeOptions& options) {
  std::optional<ScratchFile> spool;
  const std::vector<ChosenTrace> traces =
      choose_traces(options.traces.paths, options.traces.filter, spool);
  check_trace(options, traces);
  const ChosenTrace& trace = traces.front();
  TextOutput output = open_output(options.traces, files_of(options.names));
  if (!output.can_rewrite()) {
    throw Error(fmt::format("cannot write perf.data to {}: it is not a regular file",
                            options.traces.output))
        .hint("pass -o FILE");
  }
  TraceNames names(options.names, options.traces);
  const SymbolTable& symbols = names.symbols();
  const NameSelection* const selected = names.enter(trace);
  const RecordedProcesses recorded = load_processes(trace.path);
  const PerfMaps maps =
      PerfMaps::of(symbols, recorded.processes, manifest_of(trace).kernel_build_id);
  PerfSamples samples(output,
                      {.period = options.period.value_or(1),
                       .stacks = options.stacks,
                       .branches = options.branches},
                      symbols, maps, recorded.has_provable);
  DecodeTotals totals = no_totals(options.traces);
  bool incomplete = read_core(trace, options.traces, selected, samples, totals);
  samples.finish(HTMTRACE_VERSION);
  output.finish();
  if (tell_missing(traces, options.traces.context)) incomplete = true;
  if (!options.traces.quiet) {
    print_note(fmt::format("{}; {} in {}", describe(totals), describe(samples.counts()),
                           options.traces.output));
  }
  return exit_status(options.traces, totals, incomplete);
}

}  // namespace htmtrace
