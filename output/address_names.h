// SPDX-License-Identifier: GPL-2.0-or-later
// Names of addresses for printers. For one thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/symbol_cursor.h"
#include "core/symbol_table.h"

namespace htmtrace {

class AddressNames {
 public:
  // `symbols` must outlive it; null: no names are wanted.
  explicit AddressNames(const SymbolTable* symbols) : symbols_(symbols) {
    if (symbols != nullptr) cursor_.emplace(*symbols);
  }

  bool wanted() const { return symbols_ != nullptr; }

  // "name+0x1c" of the instruction; empty when it has none. Only if names are wanted. Valid until
  // the next call. Every instruction must be given, for its data have names by it.
  std::string_view code(const Instruction& instruction);
  // The same of a data access of the instruction that was given last.
  std::string_view data(const DataAccess& access);

 private:
  std::string_view text(const SymbolTable::Span& span, uint64_t address);

  const SymbolTable* symbols_;
  std::optional<SymbolCursor> cursor_;
  // Most addresses are near the ones before.
  SymbolTable::Span code_;
  SymbolTable::Span data_;
  std::string text_;
};

}  // namespace htmtrace
