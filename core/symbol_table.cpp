// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/symbol_table.h"

#include <fmt/core.h>

#include <algorithm>

namespace htmtrace {

void SymbolTable::finish() {
  std::stable_sort(symbols_.begin(), symbols_.end(), [](const Symbol& a, const Symbol& b) {
    if (a.address != b.address) return a.address < b.address;
    return (a.size_bytes != 0) > (b.size_bytes != 0);
  });
  symbols_.erase(
      std::unique(symbols_.begin(), symbols_.end(),
                  [](const Symbol& a, const Symbol& b) { return a.address == b.address; }),
      symbols_.end());
  for (size_t i = 0; i < symbols_.size(); i++) {
    Symbol& symbol = symbols_[i];
    const uint64_t room =
        i + 1 < symbols_.size() ? symbols_[i + 1].address - symbol.address : kMostBytes;
    if (symbol.size_bytes == 0) symbol.size_bytes = std::min(room, kMostBytes);
    symbol.size_bytes = std::min(symbol.size_bytes, room);
  }
}

const SymbolTable::Symbol* SymbolTable::find(EffectiveAddr address) const {
  auto after =
      std::upper_bound(symbols_.begin(), symbols_.end(), address.value,
                       [](uint64_t value, const Symbol& symbol) { return value < symbol.address; });
  if (after == symbols_.begin()) return nullptr;
  const Symbol& symbol = *--after;
  return address.value - symbol.address < symbol.size_bytes ? &symbol : nullptr;
}

std::string symbol_text(const SymbolTable::Symbol& symbol, uint64_t address) {
  if (address == symbol.address) return symbol.name;
  return fmt::format("{}+{:#x}", symbol.name, address - symbol.address);
}

}  // namespace htmtrace
