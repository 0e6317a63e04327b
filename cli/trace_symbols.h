// SPDX-License-Identifier: GPL-2.0-or-later
// Which names a report gives to addresses.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "core/symbol_table.h"
#include "output/mapping_names.h"
#include "output/page_names.h"

namespace htmtrace {

struct SymbolOptions {
  std::string kallsyms;          // empty: what record --symbols left
  std::vector<std::string> elf;  // FILE[@ADDRESS]
};

// --kallsyms and --elf.
void declare_symbols(CLI::App& app, SymbolOptions& options);

// The files that are named.
std::vector<std::string> files_of(const SymbolOptions& options);

// Throws CLI::ValidationError when this build cannot do what is asked for.
void check(const SymbolOptions& options);

// For traces at `paths`. What is wrong with the names is told on stderr. Throws Error.
SymbolTable load_symbols(const SymbolOptions& options, const std::vector<std::string>& paths);

// Of logical addresses: by `known` and what record --symbols left. The same of both.
PageNames load_page_names(const SymbolOptions& options, const std::vector<std::string>& paths,
                          const SymbolTable& known);

// Loads the names of mappings, for effective addresses without a symbol in the trace at `path`,
// from the maps that record --symbols saved. Throws Error.
MappingNames load_mapping_names(const std::string& path);

}  // namespace htmtrace
