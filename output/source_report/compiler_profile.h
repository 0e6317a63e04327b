// SPDX-License-Identifier: GPL-2.0-or-later
// The executions of one program file in the formats that compilers and linkers read.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/analysis/symbol_table.h"
#include "core/coverage/code_edges.h"
#include "output/io/text_output.h"

namespace htmtrace {

struct LlvmProfileTotals {
  uint64_t words = 0;  // executed instruction words; a prefixed instruction has two
  size_t lines = 0;    // cache lines that have executed code
  size_t ranges = 0;
  size_t branches = 0;  // different pairs of a branch and its target
  uint64_t taken = 0;   // executions of the branches
};

// Writes the input of `llvm-profgen --unsymbolized-profile --use-offset=0`: the executions of
// ranges of instructions, and of taken branches inside of the file (llvm/tools/llvm-profgen,
// PerfReader.cpp: UnsymbolizedProfileReader). Addresses are those in the file. Calls of a local
// entry point lead to the beginning of the function, where llvm-profgen expects them.
LlvmProfileTotals write_llvm_profile(const CodeEdges& edges, const CodeFiles::File& file,
                                     const SymbolTable& symbols, TextOutput& output);

struct CallOrderTotals {
  size_t pairs = 0;      // lines
  uint64_t omitted = 0;  // calls from or to a function with a blank in its name
};

// Writes the input of `ld.lld --call-graph-ordering-file`: lines "CALLER CALLEE CALLS", with the
// most frequent calls first (lld/ELF, readCallGraph).
CallOrderTotals write_call_order(const CodeEdges& edges, const CodeFiles::File& file,
                                 const SymbolTable& symbols, TextOutput& output);

}  // namespace htmtrace
