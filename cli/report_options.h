// SPDX-License-Identifier: GPL-2.0-or-later
// What htmtrace report is asked for.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/trace_options.h"
#include "cli/trace_symbols.h"
#include "core/heat_maps.h"
#include "core/hot_spots.h"

namespace htmtrace {

enum class ReportFormat : uint8_t { kText, kJson, kCsv, kSvg, kPerfetto };

struct ReportOptions {
  static constexpr size_t kTop = 20;

  TraceOptions traces;
  HotSpots::Wishes wishes;
  std::vector<std::string> units;  // as typed; wishes have the numbers
  SymbolOptions symbols;
  ReportFormat format = ReportFormat::kText;
  std::optional<size_t> top;
  std::optional<HeatAxis> axis;  // of a heat map
  bool stacks = false;
  bool heat_map = false;
  bool timeline = false;
  bool blocks = false;
  bool infer_address = false;
};

// --address, which reports share.
void declare_address(CLI::App& app, DataKey& key);

// "128", "64K": sizes that are powers of two. Throws CLI::ValidationError.
std::vector<uint64_t> parse_units(const std::vector<std::string>& texts);

// Declares them all.
void declare_options(CLI::App& app, ReportOptions& options);

// Takes over what was typed. Throws CLI::ValidationError when some do not go together.
void check(const CLI::App& app, ReportOptions& options);

}  // namespace htmtrace
