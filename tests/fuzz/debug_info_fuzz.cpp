// SPDX-License-Identifier: GPL-2.0-or-later
// Any bytes as a program file with debug information. The frames of each address are consistent
// with the range that they state.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "core/base/error.h"
#include "output/source_lines/debug_info.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    htmtrace::DebugBudgets budgets;
    htmtrace::DebugInfo info(htmtrace::path_of(data, size), {.folders = {}}, budgets);
    std::vector<htmtrace::SourceFrame> frames, at_begin;
    // The programs of the corpus have their code at these addresses.
    for (const uint64_t base : {uint64_t{0}, uint64_t{0x10000000}, ~uint64_t{0} - 0x100}) {
      for (uint64_t address = base; address - base < 0x100; address += 4) {
        const htmtrace::DebugInfo::Span span = info.find(address, frames);
        if (!span.holds(address)) std::abort();
        const htmtrace::DebugInfo::Span same = info.find(span.begin, at_begin);
        if (same.begin != span.begin || at_begin != frames) std::abort();
      }
    }
    uint64_t rows = 0, functions = 0;
    info.visit({.begin_unit = [](bool) {},
                .function = [&](const htmtrace::SourceFunction& f) { functions += f.name.size(); },
                .row =
                    [&](const htmtrace::SourceRow& row) {
                      if (row.end < row.begin) std::abort();
                      rows += row.file.size();
                    },
                .end_unit = [] {}});
  } catch (const htmtrace::Error&) {
    // The file is refused.
  }
  return 0;
}
