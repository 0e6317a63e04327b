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

// Names that select instructions. Each name is as typed.
struct NameOptions {
  std::vector<std::string> functions;  // --function
  std::vector<std::string> objects;    // --data
  std::vector<std::string> files;      // --code

  bool empty() const { return functions.empty() && objects.empty() && files.empty(); }
};

// Finds the symbols of NAME, NAME+OFFSET or FIRST..LAST. A name that exists as typed precedes both
// other forms. Throws Error with similar names if a name does not exist.
class NamedSymbols {
 public:
  // `option` is for messages. `of_code` leaves out symbols of data.
  NamedSymbols(const SymbolTable& symbols, std::string option, bool of_code)
      : symbols_(symbols), option_(std::move(option)), of_code_(of_code) {}

  // Adds the parts of all symbols. Prints a note if NAME has several symbols. Call finish() of the
  // set after the last name.
  void add(const std::string& text, SymbolSet& to) const;
  // Returns true if a symbol has this name.
  bool exists(std::string_view name) const { return !all(name).empty(); }

 private:
  using Named = SymbolTable::Named;
  // A symbol with the name, and the part of a symbol that it stands for: itself, another symbol at
  // its address, or the instruction at a label inside of another symbol.
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
};

// Returns the first instructions of the function `text`, or the instruction NAME+OFFSET. Throws
// Error.
CodePlace resolve_place(const std::string& text, const std::string& option,
                        const SymbolTable& symbols);

// Splits "FROM,TO" at a comma between two names: a name can contain commas. Returns the text as the
// first name if it has no comma.
std::pair<std::string, std::string> split_names(const std::string& text,
                                                const SymbolTable& symbols);

// Resolves all names. `symbols` must outlive the result. Throws Error.
NameSelection resolve(const NameOptions& options, const SymbolTable& symbols);

}  // namespace htmtrace
