// SPDX-License-Identifier: GPL-2.0-or-later
// Names of addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/address.h"

namespace htmtrace {

class SymbolTable {
 public:
  struct Symbol {
    uint64_t address = 0;
    uint64_t size_bytes = 0;  // 0: up to the next symbol, but no further than kMostBytes
    std::string name;
  };
  static constexpr uint64_t kMostBytes = 1 << 20;

  void add(Symbol symbol) { symbols_.push_back(std::move(symbol)); }

  // After the last add(): find() works from here on. Of symbols with the same address the first one
  // with a size stays, else the first.
  void finish();

  // The symbol that holds `address`; null when none does.
  const Symbol* find(EffectiveAddr address) const;

  size_t size() const { return symbols_.size(); }
  bool empty() const { return symbols_.empty(); }

 private:
  std::vector<Symbol> symbols_;
};

// "name" or "name+0x1c".
std::string symbol_text(const SymbolTable::Symbol& symbol, uint64_t address);

}  // namespace htmtrace
