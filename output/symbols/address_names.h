// SPDX-License-Identifier: GPL-2.0-or-later
// Names of addresses for printers. For one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/analysis/symbol_cursor.h"
#include "core/analysis/symbol_table.h"

namespace htmtrace {

class AddressNames {
 public:
  // `symbols` must outlive this object. Null turns names off.
  explicit AddressNames(const SymbolTable* symbols) : symbols_(symbols) {
    if (symbols != nullptr) cursor_.emplace(*symbols);
  }

  bool wanted() const { return symbols_ != nullptr; }

  // Returns "name+0x1c" for the instruction; empty when it has no name. Valid until the next call.
  // Call it only if wanted(). It must receive every instruction, because the names of data
  // depend on it.
  std::string_view code(const Instruction& instruction);
  // Like code(), for a data access of the instruction that code() received last.
  std::string_view data(const DataAccess& access);

 private:
  // A cache: most addresses are near their predecessors.
  struct Known {
    SymbolTable::Span span;
    std::string text;  // the name, and the distance of the last address
    size_t name_bytes = 0;
  };

  static void enter(Known& known, const SymbolTable::Span& span);
  static std::string_view text(Known& known, uint64_t address);

  const SymbolTable* symbols_;
  std::optional<SymbolCursor> cursor_;
  Known code_;
  Known data_;
};

}  // namespace htmtrace
