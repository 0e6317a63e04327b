// SPDX-License-Identifier: GPL-2.0-or-later
// The options of one htmtrace dtl command.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/dispatches/replay.h"
#include "cli/dtl/capture.h"

namespace htmtrace {

struct DtlWish {
  DtlOptions options;
  DtlReplay replay;
  bool all_cpus = true;
  bool force = false;
  bool no_sandbox = false;
  bool end_on_hotplug = false;
  bool perf_data = false;
  bool timeline = false;

  // The format of a file that -o must name, or null.
  const char* file_format() const { return perf_data ? "perf" : timeline ? "perfetto" : nullptr; }
};

// Throws CLI::ValidationError for options that exclude each other, or that have no effect.
void check_dtl_wish(const CLI::App& app, const DtlWish& wish);

}  // namespace htmtrace
