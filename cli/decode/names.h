// SPDX-License-Identifier: GPL-2.0-or-later
// The names that decode prints, and those by which it selects instructions.
#pragma once

#include <memory>
#include <optional>

#include "cli/decode/options.h"
#include "core/analysis/name_selection.h"
#include "core/analysis/symbol_table.h"
#include "output/print/core_fields_printer.h"
#include "output/source_lines/source_files.h"

namespace htmtrace {

class DecodeNames {
 public:
  // Loads the symbols and opens the source lines that the output needs. Throws Error if it finds no
  // symbols or no source lines. `options` must outlive this object.
  DecodeNames(const DecodeOptions& options, const CoreFieldNeeds& needs);

  // The symbols that the output needs, or null.
  const SymbolTable* symbols() const { return prints_symbols_ ? &*symbols_ : nullptr; }
  // The source lines that the output needs, or null.
  SourceFiles* lines() const { return lines_.get(); }
  // The functions, objects and files that select instructions, or null. Loads the names on first
  // use.
  const NameSelection* selected();

 private:
  const DecodeOptions& options_;
  const bool prints_symbols_;
  std::optional<SymbolTable> symbols_;
  std::unique_ptr<SourceFiles> lines_;
  std::optional<NameSelection> selected_;
};

}  // namespace htmtrace
