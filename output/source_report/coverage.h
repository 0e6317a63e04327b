// SPDX-License-Identifier: GPL-2.0-or-later
// The coverage of source files by core traces: executions of lines, functions and branches.
// htmtrace-report(1), COVERAGE, defines the counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/analysis/symbol_table.h"
#include "core/coverage/code_edges.h"
#include "output/source_lines/debug_file.h"

namespace htmtrace {

struct SourceCoverage {
  // A conditional branch of the machine code.
  struct Branch {
    uint64_t taken = 0;
    uint64_t not_taken = 0;
    bool is_reached = false;
  };
  struct Function {
    uint32_t line = 0;  // the first one of the functions with the same name
    uint64_t count = 0;
  };
  struct Source {
    std::map<uint32_t, uint64_t> lines;                      // executions, also 0
    std::map<std::string, Function, std::less<>> functions;  // by linkage name
    std::map<uint32_t, std::vector<Branch>> branches;        // by line
  };

  std::map<std::string, Source> sources;  // by path
  size_t programs = 0;                    // program files with lines
  uint64_t unknown_outcomes = 0;          // executions of branches that are in neither count
  // The reasons for which files have no lines, or only a part of their lines.
  std::vector<std::string> problems;
};

// Reads the lines of all program files in `symbols`.
SourceCoverage coverage_of(const CodeEdges& edges, const SymbolTable& symbols,
                           const DebugFolders& folders);

}  // namespace htmtrace
