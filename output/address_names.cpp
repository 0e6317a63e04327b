// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/address_names.h"

#include <fmt/format.h>

#include <iterator>

namespace htmtrace {

std::string_view AddressNames::text(EffectiveAddr address) {
  const bool again = recent_ != nullptr && address.value - recent_->address < recent_->size_bytes;
  const SymbolTable::Symbol* const symbol = again ? recent_ : symbols_->find(address);
  if (symbol == nullptr) return {};
  recent_ = symbol;
  text_ = symbol->name;
  const uint64_t distance = address.value - symbol->address;
  if (distance != 0) fmt::format_to(std::back_inserter(text_), "+{:#x}", distance);
  return text_;
}

}  // namespace htmtrace
