// SPDX-License-Identifier: GPL-2.0-or-later
// The names that decode prints, and those by which it selects instructions.
#pragma once

#include <memory>
#include <optional>

#include "cli/decode/options.h"
#include "cli/traces/options.h"
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

  // Call this before a core trace is read. The first call loads the names if only the selection
  // needs them. Throws Error.
  void enter(const ChosenTrace& trace);

  // The symbols that the output needs, or null.
  const SymbolTable* symbols() const { return prints_symbols_ ? &names_->symbols() : nullptr; }
  // The source lines that the output needs, or null.
  SourceFiles* lines() const { return lines_.get(); }
  // The selection by name for the current trace, or null.
  const NameSelection* selected() const { return selected_; }

 private:
  const DecodeOptions& options_;
  const bool prints_symbols_;
  std::optional<TraceNames> names_;
  std::unique_ptr<SourceFiles> lines_;
  const NameSelection* selected_ = nullptr;
};

}  // namespace htmtrace
