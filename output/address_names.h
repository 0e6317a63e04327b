// SPDX-License-Identifier: GPL-2.0-or-later
// Names of addresses for printers. For one thread.
#pragma once

#include <string>
#include <string_view>

#include "core/address.h"
#include "core/symbol_table.h"

namespace htmtrace {

class AddressNames {
 public:
  // `symbols` must outlive it; null: no names are wanted.
  explicit AddressNames(const SymbolTable* symbols) : symbols_(symbols) {}

  bool wanted() const { return symbols_ != nullptr; }

  // "name+0x1c"; empty when it has none. Only if they are wanted. Valid until the next call.
  std::string_view text(EffectiveAddr address);

 private:
  const SymbolTable* symbols_;
  const SymbolTable::Symbol* recent_ = nullptr;  // most addresses are near the one before
  std::string text_;
};

}  // namespace htmtrace
