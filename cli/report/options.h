// SPDX-License-Identifier: GPL-2.0-or-later
// The options of htmtrace report.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/terminal.h"
#include "cli/traces/lines.h"
#include "cli/traces/options.h"
#include "cli/traces/symbols.h"
#include "core/analysis/heat_maps.h"
#include "core/analysis/hot_spots.h"

namespace htmtrace {

enum class ReportFormat : uint8_t {
  kText,
  kJson,
  kCsv,
  kSvg,
  kPerfetto,
  kCallgrind,
  kLcov,
  kLlvmProfile,
  kCallOrder,
  kHtml
};

struct ReportOptions {
  static constexpr size_t kTop = 20;
  static constexpr size_t kPageTop = 200;

  TraceOptions traces;
  HotSpots::Wishes wishes;
  std::vector<std::string> units;  // as typed; `wishes` has the numbers
  SymbolOptions symbols;
  LineOptions lines;
  ReportFormat format = ReportFormat::kText;
  std::optional<size_t> top;
  std::optional<HeatAxis> axis;  // for a heat map
  bool stacks = false;
  bool calls = false;
  bool heat_map = false;
  bool timeline = false;
  bool blocks = false;
  bool predict_cycles = false;
  bool by_line = false;
  bool inlined = false;
  bool infer_address = false;
  std::string program;  // a path, or the end of a path
  std::string between;  // FROM,TO; empty: no passages
  TerminalOptions terminal;
  // What the terminal of standard output offers; set before a pager hides it.
  bool color = false;
  std::optional<size_t> columns;

  // Whether the report needs call stacks, which a nest trace does not have.
  bool follows_calls() const { return stacks || calls; }
  bool is_callgrind() const { return format == ReportFormat::kCallgrind; }
  bool is_lcov() const { return format == ReportFormat::kLcov; }
  // Whether the format is for compilers, and has one program.
  bool is_for_compilers() const {
    return format == ReportFormat::kLlvmProfile || format == ReportFormat::kCallOrder;
  }
  // Whether the report is an EdgeReport.
  bool counts_edges() const { return is_lcov() || is_for_compilers(); }
  // Whether the report reads debug information: on request, or because the format has lines.
  bool has_lines() const { return by_line || inlined || is_callgrind() || is_lcov(); }
  // Whether the report has the tables of HotSpots.
  bool has_tables() const {
    return !follows_calls() && !heat_map && !timeline && !blocks && !by_line && !infer_address &&
           between.empty() && !counts_edges();
  }
};

// Declares --address, which several reports share.
void declare_address(CLI::App& app, DataKey& key);

// "128", "64K": sizes that are powers of two. Throws CLI::ValidationError.
std::vector<uint64_t> parse_units(const std::vector<std::string>& texts);

// Declares all options.
void declare_options(CLI::App& app, ReportOptions& options);

// Converts the typed values. Throws CLI::ValidationError if options exclude each other.
void check(const CLI::App& app, ReportOptions& options);

}  // namespace htmtrace
