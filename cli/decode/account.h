// SPDX-License-Identifier: GPL-2.0-or-later
// What decode states about the traces that it has read: statistics, warnings, totals, and the exit
// status.
#pragma once

#include <cstdint>
#include <string>

#include "cli/decode/nest_decode.h"
#include "cli/decode/options.h"
#include "cli/traces/bytes.h"
#include "core/core_trace/statistics.h"
#include "core/memory_map/translation.h"
#include "output/io/input_file.h"
#include "output/io/text_output.h"
#include "output/report/decode_report.h"

namespace htmtrace {

class DecodeAccount {
 public:
  // Both arguments must outlive this object. With --summary, the statistics go to the output.
  DecodeAccount(const DecodeOptions& options, TextOutput& output)
      : options_(options), output_(output), totals_(no_totals(options.traces)) {}

  // Adds a trace that was read to its end or to a limit, and prints its statistics and warnings.
  void add(const TraceBytes& bytes, const CoreStatistics& statistics, const TranslationReport& map);
  // Prints nothing if the reader of the output has gone.
  void add(const NestResult& result, const TranslationReport& map);
  // Adds instructions of the core trace `file`, and warns if its selection misses a function.
  void add_selected(uint64_t selected, const InputFile& file);

  // The selected events of all traces; 0 without a selection.
  uint64_t selected() const { return totals_.selected.value_or(0); }

  // Prints the totals, and returns the exit status. `missing`: the recording lacks data.
  int finish(bool missing) const;

 private:
  void tell(const std::string& statistics);
  void tell_wrap(const std::string& name, uint64_t oldest);

  const DecodeOptions& options_;
  TextOutput& output_;
  DecodeTotals totals_;
  bool incomplete_ = false;
};

}  // namespace htmtrace
