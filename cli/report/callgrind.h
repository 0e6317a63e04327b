// SPDX-License-Identifier: GPL-2.0-or-later
// `htmtrace report --format callgrind`.
#pragma once

#include <cstddef>

#include "cli/report/options.h"
#include "core/analysis/symbol_table.h"
#include "core/call_stacks/call_graph.h"
#include "output/io/text_output.h"

namespace htmtrace {

// Writes the graph of `traces` traces, and prints notes about it on stderr. Throws Error.
void put_callgrind(const CallGraph& graph, const SymbolTable& symbols, const ReportOptions& options,
                   size_t traces, TextOutput& output);

}  // namespace htmtrace
