// SPDX-License-Identifier: GPL-2.0-or-later
// Resolves the names of functions, objects and files that the user typed.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/analysis/name_selection.h"
#include "core/analysis/passages.h"
#include "core/analysis/symbol_table.h"

namespace htmtrace {

// Names that select instructions, as the user typed them.
struct NameOptions {
  std::vector<std::string> functions;  // --function
  std::vector<std::string> objects;    // --data
  std::vector<std::string> files;      // --code
  bool quiet = false;                  // print no notes

  bool empty() const { return functions.empty() && objects.empty() && files.empty(); }
};

// Finds the symbols of NAME, NAME+OFFSET or FIRST..LAST. If a symbol has the whole text as its
// name, the text is a NAME. Throws Error with similar names if a name does not exist.
class NamedSymbols {
 public:
  // Messages name `option`. With `of_code`, ignores symbols of data. With `quiet`, prints no notes.
  NamedSymbols(const SymbolTable& symbols, std::string option, bool of_code, bool quiet)
      : symbols_(symbols), option_(std::move(option)), of_code_(of_code), quiet_(quiet) {}

  // Adds all symbols that `text` names to the set. Prints a note if a name has several symbols.
  // Call finish() of the set after the last name.
  void add(const std::string& text, SymbolSet& to) const;
  // Returns true if a symbol has this name.
  bool exists(std::string_view name) const { return !all(name).empty(); }

 private:
  using Named = SymbolTable::Named;
  // A symbol with the name, and the code or data that it selects: the whole symbol, another symbol
  // that names the same address, or the instruction at a label inside another symbol.
  struct Found {
    Named named;
    SymbolSet::Part part;
  };

  std::vector<Found> all(std::string_view name) const;
  bool add_place(std::string_view text, SymbolSet& to) const;
  bool add_range(std::string_view text, SymbolSet& to) const;
  void add_between(const Named& first, const SymbolTable::Symbol& last, SymbolSet& to) const;
  void note_several(const std::vector<Found>& found, const std::string& name) const;
  bool fits(const SymbolTable::Symbol& symbol) const {
    return !of_code_ || symbol.section != SymbolTable::Section::kData;
  }
  [[noreturn]] void refuse(const std::string& text) const;

  const SymbolTable& symbols_;
  std::string option_;
  bool of_code_;
  bool quiet_;
};

// Returns the first instructions of all functions that `text` names, or the instructions
// NAME+OFFSET. With `quiet`, prints no notes. Throws Error.
CodePlace resolve_place(const std::string& text, const std::string& option,
                        const SymbolTable& symbols, bool quiet);

// Splits "FROM,TO" at a comma between two names: a name can contain commas. Returns the text as the
// first name if it has no comma.
std::pair<std::string, std::string> split_names(const std::string& text,
                                                const SymbolTable& symbols);

// Resolves all names. `symbols` must outlive the result. Appends each name of --code without a
// file, module or program to `unknown`; if `unknown` is null, throws Error. Throws Error for each
// other unknown name.
NameSelection resolve(const NameOptions& options, const SymbolTable& symbols,
                      std::vector<std::string>* unknown = nullptr);

}  // namespace htmtrace
