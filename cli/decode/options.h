// SPDX-License-Identifier: GPL-2.0-or-later
// The options of htmtrace decode.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "cli/terminal.h"
#include "cli/traces/lines.h"
#include "cli/traces/options.h"
#include "cli/traces/symbols.h"
#include "output/export/perf_sampling.h"
#include "output/export/qtrace_writer.h"
#include "output/export/row_codec.h"

namespace htmtrace {

enum class DecodeFormat : uint8_t {
  kText,
  kJson,
  kCsv,
  kQtrace,
  kBlockVectors,
  kHtmdecode,
  kAvro,
  kParquet,
  kPerf
};

// Returns true for formats of simulators, which hold one trace.
inline bool for_simulators(DecodeFormat format) {
  return format == DecodeFormat::kQtrace || format == DecodeFormat::kBlockVectors;
}

// Returns true for formats that consist of a folder of files.
inline bool for_engines(DecodeFormat format) {
  return format == DecodeFormat::kAvro || format == DecodeFormat::kParquet;
}

struct DecodeOptions {
  TraceOptions traces;
  DecodeFormat format = DecodeFormat::kText;
  std::optional<QtraceWriter::Pages> pages;  // for qtrace
  std::optional<uint64_t> interval;          // for block vectors
  std::string blocks;
  std::optional<uint64_t> period;  // for perf: instructions for each sample, or kBranches
  bool stacks = false;             // for perf
  unsigned branches = 0;           // for perf
  static constexpr uint64_t kPartRows = 10'000'000;
  uint64_t part_rows = kPartRows;  // limit for each file of a format for engines
  std::optional<uint64_t> part_ticks;
  std::optional<RowCodec> codec;    // empty: the default codec
  std::vector<std::string> fields;  // empty: the fields of the format
  bool summary = false;             // statistics instead of events
  bool stamps = false;
  bool modes = false;
  bool walks = false;
  bool disassemble = false;
  bool symbols = false;
  SymbolOptions names;  // for symbols
  LineOptions lines;
  bool file_order = false;
  static constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();
  uint64_t limit = kNoLimit;
  TerminalOptions terminal;

  // True if the output or the selection uses names.
  bool needs_names() const;
};

// Declares all options.
void declare_options(CLI::App& app, DecodeOptions& options);

// Throws CLI::ValidationError if options exclude each other.
void check(const DecodeOptions& options);

// Throws Error if a binary format would go to a terminal.
void check_terminal(const DecodeOptions& options);

}  // namespace htmtrace
